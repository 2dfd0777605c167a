"""A real study on a real Swarm, and one that is hurt: a host is cut while a run goes on."""

from __future__ import annotations

import uuid
from pathlib import Path

import pytest
from study_process import StudyProcess, insist_nothing_left, started, under_way

from dunnage.hosts.lab import LABS, Owner
from dunnage.store.read import Result

pytestmark = [pytest.mark.live, pytest.mark.timeout(900)]

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
HOST_PORT = "port: {platform: swarm, network: overlay}"
CONTAINER_DNS = (
    "dns: {platform: swarm, network: overlay, endpoint: container-dns, client: container}"
)


def written(place: Path, duration: str, *deployments: str) -> tuple[str, Path]:
    name, path = f"swarm-{uuid.uuid4().hex[:8]}", place / "study.yaml"
    path.write_text(STUDY.format(name=name, duration=duration, deployments=", ".join(deployments)))
    return name, path


@pytest.mark.proof
def test_a_study_charges_its_manager_to_nobody_and_records_the_way_to_every_member(
    tmp_path: Path,
) -> None:
    name, path = written(tmp_path, "2s", "native: {platform: native}", HOST_PORT, CONTAINER_DNS)
    with started(name, tmp_path, str(path), "--results", str(tmp_path)) as running:
        lab = running.until(running.lab)
        assert running.wait() in (0, 5), running.said
    result = running.result()
    assert result.finished() == {run.id for run in result.plan.runs()}, running.said
    insist_charged_and_inside(result)
    stays = {stay.deployment: stay for stay in result.stays}
    assert stays["native"].substrates == {"docker": "frozen", "swarm": "frozen"}
    assert stays["port"].substrates == {"docker": "awake", "swarm": "awake"}
    assert set(stays["dns"].names) == set(stays["dns"].late) == {"redis-1", "redis-2"}
    insist_nothing_left(name, {lab})


def test_a_host_that_is_cut_during_a_run_is_restored_and_rejoins(tmp_path: Path) -> None:
    name, path = written(tmp_path, "4s", HOST_PORT)
    with under_way(name, path, in_a_run) as running:
        lab = running.lab()
        assert lab is not None
        owner = Owner.read((LABS / lab / "owner.json").read_text())
        owner.first["db-2"].kill()
        assert running.wait() in (0, 5), running.said
    result = running.result()
    assert result.finished() == {run.id for run in result.plan.runs()}, running.said
    events = [(str(event["event"]), event.get("host")) for event in result.events()]
    assert ("host restored", "db-2") in events
    assert "stay failed" in {event for event, _ in events}
    assert "failed" in running.said
    insist_charged_and_inside(result)


def insist_charged_and_inside(result: Result) -> None:
    """The manager's time is its own host's, no connection left the endpoint, all ways are known."""
    assert result.records
    for record in result.records:
        gates = {check.check: check for check in record.checks}
        assert gates["connections"].status == "valid"
        assert gates["control"].seen[0].what == "control"
        assert [host.host for host in record.usage] == ["db-1", "db-2", "client-1", "control-1"]
    for stay in result.stays:
        assert stay.paths
        assert all(path.hops and not path.unknown for path in stay.paths)


def in_a_run(running: StudyProcess) -> object:
    """Whether a run goes on."""
    return running.member("runs/")
