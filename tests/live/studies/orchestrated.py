"""A study of Redis on an orchestrator: as a file, with a host that is cut, and what holds of it."""

from __future__ import annotations

import uuid
from pathlib import Path

from study_process import StudyProcess, in_a_run, under_way

from dunnage.analysis.checks import CONTROL
from dunnage.analysis.gather import STEADY
from dunnage.hosts.lab import LABS, Owner
from dunnage.model.check import Status
from dunnage.model.record import Record
from dunnage.store.read import Result
from dunnage.wording.checks import failed

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
KEPT = 0.5
"""Share of the throughput before and after that must stay while a control program is away: one that
comes back takes processor time of the clients, as both share a machine."""
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


def insist_the_load_did_not_care(record: Record, since: float, until: float) -> str:
    """No operation failed, and throughput in the time between, of which the times are Unix times,
    was not much less than before and after; the three, to be told."""
    load = record.measurement
    assert load is not None
    assert not any(load.operations["all"].errors.values()), load.operations["all"].errors
    windows = [window for window in load.windows if window.start >= 0]
    assert not any(window.errors for window in windows)
    parts = {
        "before": [each for each in windows if load.began + each.start + each.length <= since],
        "in": [
            each
            for each in windows
            if load.began + each.start < until and load.began + each.start + each.length > since
        ],
        "after": [each for each in windows if load.began + each.start >= until],
    }
    assert all(parts.values()), {name: len(each) for name, each in parts.items()}
    assert all(window.operations for window in windows)
    rates = {
        name: sum(each.operations for each in part) / sum(each.length for each in part)
        for name, part in parts.items()
    }
    told = ", ".join(f"{rate:.0f} op/s {name}" for name, rate in rates.items())
    assert rates["in"] >= KEPT * min(rates["before"], rates["after"]), told
    return told


def insist_nothing_else_spoilt(record: Record) -> None:
    """A run counts, or what spoilt it is what its orchestrator itself does here."""
    wrong = {check.check for check in record.checks if check.status is not Status.VALID}
    assert wrong <= {CONTROL, STEADY}, failed(record.checks)


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
