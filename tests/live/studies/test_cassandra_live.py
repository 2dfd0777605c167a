"""Real rings: the same Cassandra natively and in containers, and members that are hurt."""

from __future__ import annotations

import os
import signal
import time
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest
from study_process import StudyProcess, driven, started, under_way

from dunnage import catalog
from dunnage.findings.parity.compare import compare
from dunnage.findings.parity.factors import factors, keys
from dunnage.model.check import Status
from dunnage.model.parity import Cause
from dunnage.model.record import Record, StayRecord
from dunnage.store.read import Result, open_result
from dunnage.study.matrix import deployments
from dunnage.study.read import read_study
from dunnage.wording.checks import seen
from dunnage.wording.parity import sentence

pytestmark = [pytest.mark.live, pytest.mark.timeout(900)]

RING = """
dunnage: 1
name: {name}
testbed: {{kind: namespace, hosts: {{db: 3, client: 1}}, memory: 2GiB, cores: shared}}
database:
  kind: cassandra
  members: 3
  consistency: {{read: ONE, write: QUORUM}}
  settings: {{jvm.compilers: C1}}
deployments:
  native: {{platform: native}}
  bridge: {{platform: docker, network: bridge}}
workloads: [A]
records: 6000
load: {{threads: [8], warmup: 2s, duration: 4s}}
blocks: 1
deadline: 240s
patience: 0s
"""
WRITES_WAIT = 3.0
"""Seconds: more than the 2 s after which a Cassandra gives a write to another member up."""
ONE = """
dunnage: 1
name: {name}
testbed: {{kind: namespace, hosts: {{db: 1, client: 1}}, cores: shared}}
database: {{kind: cassandra, settings: {{jvm.compilers: C1}}}}
deployments:
  native: {{platform: native}}
workloads: [A, C]
records: 300
load: {{threads: [4], warmup: 500ms, duration: 4s, timeout: 1s}}
blocks: 1
deadline: 120s
patience: 0s
"""


def written(directory: Path, text: str) -> tuple[str, Path]:
    """A study under a name of its own."""
    name = f"ring-{uuid.uuid4().hex[:8]}"
    path = directory / "study.yaml"
    path.write_text(text.format(name=name))
    return name, path


@pytest.fixture(scope="module")
def ring(tmp_path_factory: pytest.TempPathFactory) -> Result:
    """One block of a ring of three, natively and behind a bridge.

    While records are put in for the first time, a member stands still for longer than writes wait,
    as one does whose processors are busy: it must not lack any of them afterwards.
    """
    results = tmp_path_factory.mktemp("ring")
    name, path = written(results, RING)
    with started(name, results, str(path), "--results", str(results)) as running:
        running.until(lambda: driven(running, "loading"))
        member = running.until(lambda: running.member("cassandra-3/data"))
        os.kill(member, signal.SIGSTOP)
        time.sleep(WRITES_WAIT)
        os.kill(member, signal.SIGCONT)
        assert running.wait() in (0, 5), running.said
    return open_result(results / name)


@pytest.mark.proof
def test_records_that_a_member_missed_are_put_in_again(ring: Result) -> None:
    assert len(ring.finished()) == 2
    failed = [each for each in ring.events() if each["event"] == "loading failed"]
    assert any("timeout" in str(each["why"]) for each in failed)


def records(ring: Result, deployment: str) -> list[Record]:
    found = [each for each in ring.records if each.deployment == deployment]
    assert len(found) == 1
    return found


def stays(ring: Result, deployment: str) -> list[StayRecord]:
    found = [each for each in ring.stays if each.deployment == deployment]
    assert len(found) == 1
    return found


@pytest.mark.proof
@pytest.mark.parametrize("deployment", ["native", "bridge"])
def test_a_ring_is_driven_by_its_endpoint_without_an_error(ring: Result, deployment: str) -> None:
    for measured, stay in zip(records(ring, deployment), stays(ring, deployment), strict=True):
        assert measured.measurement is not None
        everything = measured.measurement.operations["all"]
        assert everything.count > 100
        assert not any(everything.errors.values())
        assert len(stay.endpoint) == 3
        assert set(measured.measurement.remotes) == set(stay.endpoint)
        assert measured.data_size is not None
        assert measured.data_size >= 2**20


@pytest.mark.proof
@pytest.mark.parametrize("deployment", ["native", "bridge"])
def test_members_say_of_themselves_what_was_asked_for(ring: Result, deployment: str) -> None:
    facts = stays(ring, deployment)[0].facts
    tokens = {facts[f"cassandra-{number}.tokens"] for number in (1, 2, 3)}
    assert len(tokens) == 3
    for number in (1, 2, 3):
        assert str(facts[f"cassandra-{number}.release_version"]).startswith("5.0")
        assert facts[f"cassandra-{number}.schema.members"] == 3
        assert facts[f"cassandra-{number}.schema.versions"] == 1
        assert facts[f"cassandra-{number}.java.heap"] == 512 * 2**20
        assert facts[f"cassandra-{number}.java.processors"] == 2
        assert "G1" in str(facts[f"cassandra-{number}.java.collectors"])
        assert '"datacenter1": "3"' in str(facts[f"cassandra-{number}.table.replication"])


@pytest.mark.proof
def test_native_and_bridge_differ_in_nothing_that_is_not_under_study(ring: Result) -> None:
    study = read_study(ring.study_text, "study.yaml", catalog.OFFER)
    native, bridge = deployments(study, catalog.OFFER)
    declared = keys(factors(native, bridge))
    spoiling = {Cause.UNDECLARED, Cause.UNKNOWN}
    for one, other in zip(stays(ring, "native"), stays(ring, "bridge"), strict=True):
        found = compare(one, other, declared)
        assert [sentence(each) for each in found if each.cause in spoiling] == []
        locked = [each.limits["locked_memory"] for each in (*one.processes, *other.processes)]
        assert locked == ["some"] * 6
        compiled = [
            each.runtime["flag.TieredStopAtLevel"] for each in (*one.processes, *other.processes)
        ]
        assert compiled == ["1"] * 6
        for process in other.processes:
            assert any(path.endswith("/lib/cassandra.jsa") for path in process.mapped)


@pytest.fixture
def hurt(tmp_path: Path) -> Iterator[tuple[StudyProcess, int]]:
    """A study of a ring of one whose first run is going on, and its member."""
    name, path = written(tmp_path, ONE)
    with under_way(name, path, lambda running: running.member("CassandraDaemon")) as running:
        member = running.until(lambda: running.member("CassandraDaemon"))
        running.until(lambda: driven(running))
        yield running, member


def events(running: StudyProcess, name: str) -> list[dict[str, object]]:
    return [dict(each) for each in running.result().events() if each["event"] == name]


@pytest.mark.proof
def test_a_member_killed_during_a_run_makes_it_invalid_and_ends_its_stay(
    hurt: tuple[StudyProcess, int],
) -> None:
    running, member = hurt
    os.kill(member, signal.SIGKILL)
    assert running.wait() in (0, 5), running.said
    result = running.result()
    assert len(result.finished()) == 2
    (failed,) = events(running, "stay failed")
    assert "cassandra-1: died" in str(failed["why"])
    first, second = sorted(result.records, key=lambda each: each.position)
    gates = {check.check: check for check in first.checks}
    assert gates["members"].status is Status.INVALID
    assert seen(gates["members"]).startswith("cassandra-1 on db-1 died (")
    assert first.stay != second.stay


@pytest.mark.proof
def test_a_member_that_hangs_gives_time_outs_and_an_invalid_run_and_the_study_goes_on(
    hurt: tuple[StudyProcess, int],
) -> None:
    running, member = hurt
    os.kill(member, signal.SIGSTOP)
    running.until(lambda: not running.member("/runs/"))
    os.kill(member, signal.SIGCONT)
    assert running.wait() in (0, 5), running.said
    first, second = sorted(running.result().records, key=lambda each: each.position)
    assert first.status.value == "invalid"
    assert first.measurement is not None
    errors = first.measurement.operations["all"].errors
    assert errors.get("timeout", 0) > 0, (errors, first.checks)
    assert second.measurement is not None
    assert not any(second.measurement.operations["all"].errors.values())
    assert events(running, "stay failed") == []
