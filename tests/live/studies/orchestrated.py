"""A study of Redis on an orchestrator: as a file, with a host that is cut, and what holds of it."""

from __future__ import annotations

import uuid
from pathlib import Path

from study_process import StudyProcess, in_a_run, under_way

from dunnage.hosts.lab import LABS, Owner
from dunnage.store.read import Result

STUDY = """
dunnage: 1
name: {name}
testbed: {{kind: namespace, hosts: {{db: 2, client: 1}}, cores: shared}}
database: {{kind: redis, topology: replicas, members: 2}}
deployments: {{{deployments}}}
workloads: [A]
records: 1000
load: {{threads: [8], warmup: 500ms, duration: {duration}}}
blocks: 1
deadline: 30s
patience: 0s
"""
NATIVE = "native: {platform: native}"


def written(kind: str, place: Path, duration: str, *deployments: str) -> tuple[str, Path]:
    """A study under a name of its own that begins with `kind`, and its file."""
    name, path = f"{kind}-{uuid.uuid4().hex[:8]}", place / "study.yaml"
    path.write_text(STUDY.format(name=name, duration=duration, deployments=", ".join(deployments)))
    return name, path


def finished(running: StudyProcess) -> Result:
    """The result of a study that ended by itself, with a record of every run."""
    assert running.wait() in (0, 5), running.said
    result = running.result()
    assert result.finished() == {run.id for run in result.plan.runs()}, running.said
    return result


def finished_though_cut(name: str, path: Path) -> tuple[Result, str]:
    """Carry out a study whose host `db-2` is cut while a run goes on; its result and what it said.

    The host was restored, the stay failed, and all runs have records.
    """
    with under_way(name, path, in_a_run) as running:
        lab = running.lab()
        assert lab is not None
        owner = Owner.read((LABS / lab / "owner.json").read_text())
        owner.first["db-2"].kill()
        result = finished(running)
    events = [(str(event["event"]), event.get("host")) for event in result.events()]
    assert ("host restored", "db-2") in events
    assert "stay failed" in {event for event, _ in events}
    return result, running.said


def insist_charged_and_inside(result: Result) -> None:
    """What serves all hosts is charged to its own, no connection left its endpoint, and all ways
    are known."""
    assert result.records
    for record in result.records:
        gates = {check.check: check for check in record.checks}
        assert gates["connections"].status == "valid"
        assert gates["control"].seen[0].what == "control"
        assert [host.host for host in record.usage] == ["db-1", "db-2", "client-1", "control-1"]
    for stay in result.stays:
        assert stay.paths
        assert all(path.hops and not path.unknown for path in stay.paths)
