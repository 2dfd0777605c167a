"""Whole studies of Cassandra by the real command: 4.1, measured loading, reset, a compaction."""

from __future__ import annotations

import signal
import subprocess
import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from orchestrated import finished
from study_process import StudyProcess, driven, insist_nothing_left, started

from dunnage.databases.cassandra.answers import tables
from dunnage.databases.cassandra.steps import KEYSPACE, TABLE
from dunnage.model.check import Status
from dunnage.model.layout import Software
from dunnage.model.parity import Cause
from dunnage.model.record import Measurement, Record
from dunnage.opened import OpenedResult, open_at
from dunnage.software.engine import engine_path
from dunnage.software.trees import DebianSoftware
from dunnage.wording.parity import sentence

pytestmark = [pytest.mark.live, pytest.mark.proof, pytest.mark.timeout(900)]

STUDY = """
dunnage: 1
name: {name}
testbed: {{kind: namespace, hosts: {{db: 1, client: 1}}, cores: shared}}
database:
  kind: cassandra
  version: "{version}"
  settings: {{jvm.compilers: C1{settings}}}
deployments:
  native: {{platform: native}}
{more}
blocks: 1
deadline: 240s
patience: 0s
"""
BOTH_AND_A = """\
  bridge: {platform: docker, network: bridge}
workloads: [A]
records: 3000
load: {threads: [8], warmup: 500ms, duration: 4s}"""
PHASES = """\
workloads:
  - {name: loading, phase: load, records: 20000}
  - {name: many, core: C, records: 20000}
  - {name: few, core: C, records: 2000}
  - {name: inserting, core: D, records: 2000}
  - {name: after, core: C, records: 2000}
order: published
load: {threads: [16], warmup: 500ms, duration: 4s}"""
TWICE = """\
workloads: [C]
records: 30000
repeat: 2
load: {threads: [4], warmup: 500ms, duration: 4s}"""
SLOWLY = ", compaction_throughput: 1MiB/s"
"""So that 30 MB take half a minute, whatever the machine."""
LEAST = 3.0
"""Seconds of that which are left at least when the first run is over, and its record written."""
JMX = "7199"
PATIENCE = 120.0


def written(
    directory: Path, more: str, version: str = "5.0", settings: str = ""
) -> tuple[str, Path]:
    """A study of a ring of one, under a name of its own."""
    name, path = f"ring-{uuid.uuid4().hex[:8]}", directory / "study.yaml"
    path.write_text(STUDY.format(name=name, more=more, version=version, settings=settings))
    return name, path


def measured(found: Record) -> Measurement:
    """What a run measured, in which nothing failed."""
    assert found.measurement is not None
    errors = found.measurement.operations["all"].errors
    assert not any(errors.values()), (found.run, errors)
    return found.measurement


@pytest.fixture(scope="module")
def four(tmp_path_factory: pytest.TempPathFactory) -> OpenedResult:
    """One block of Cassandra 4.1, natively and behind a bridge."""
    place = tmp_path_factory.mktemp("four")
    name, path = written(place, BOTH_AND_A, version="4.1")
    with started(name, place, str(path), "--results", str(place)) as running:
        lab = running.until(running.lab)
        finished(running)
    insist_nothing_left(name, {lab})
    return open_at(place / name)


def test_a_ring_of_version_4_1_is_driven_by_its_endpoint_without_an_error(
    four: OpenedResult,
) -> None:
    endpoints = {stay.deployment: set(stay.endpoint) for stay in four.stays}
    assert {each.deployment for each in four.records} == endpoints.keys() == {"native", "bridge"}
    for each in four.records:
        made = measured(each)
        assert made.operations["read"].count > 100
        assert made.operations["update"].count > 100
        assert set(made.remotes) == endpoints[each.deployment]
        assert each.data_size is not None and each.data_size >= 2**20
        gates = {check.check: check.status for check in each.checks}
        assert gates["connections"] is Status.VALID


def test_servers_of_version_4_1_say_which_they_are(four: OpenedResult) -> None:
    tree = DebianSoftware().tree(Software("cassandra", "4.1"))
    for stay in four.stays:
        assert stay.facts["cassandra-1.release_version"] == tree.facts["version"]
        assert stay.facts["cassandra-1.java.heap"] == 512 * 2**20
        assert stay.facts["cassandra-1.java.processors"] == 2
        (process,) = stay.processes
        jars = [path for path in process.mapped if path.endswith(".jar")]
        assert any("/cassandra-all-4.1." in path for path in jars), jars


def test_natively_and_behind_a_bridge_version_4_1_is_the_same(four: OpenedResult) -> None:
    assert len(four.stays) == 2
    found = (each.difference for each in four.analysis.parity.differences)
    spoiling = (Cause.UNDECLARED, Cause.UNKNOWN)
    assert [sentence(each) for each in found if each.cause in spoiling] == []


@dataclass(frozen=True)
class Member:
    """The only member of a ring whose study is under way, with its process id here."""

    pid: int
    address: str

    @classmethod
    def of(cls, running: StudyProcess) -> Member:
        """That of a stay that is ready."""
        pid = running.until(lambda: running.member("CassandraDaemon"))
        (address,) = running.result().stays[0].endpoint
        return cls(pid, address)

    def asked(self, statement: str) -> list[dict[str, object]]:
        """The rows that it answers; none if it is gone."""
        ask = (str(engine_path()), "cql", "--address", self.address, statement)
        done = subprocess.run(
            ["nsenter", f"--net=/proc/{self.pid}/ns/net", *ask], capture_output=True, text=True
        )
        return tables(done.stdout)[0] if done.returncode == 0 else []

    @property
    def records(self) -> object:
        """How many it has."""
        (counted,) = self.asked(f"SELECT count(*) FROM {KEYSPACE}.{TABLE}")  # noqa: S608
        return counted["count"]

    @property
    def compacts(self) -> bool:
        """Whether it compacts its table."""
        tasks = self.asked("SELECT table_name FROM system_views.sstable_tasks")
        return any(each["table_name"] == TABLE for each in tasks)

    def compact(self) -> subprocess.Popen[str]:
        """Have it compact its table, as an operator would, on its host; this takes as long."""
        java, *_ = Path(f"/proc/{self.pid}/cmdline").read_text().split("\0")
        tool = f"@{Path(java).parent.parent}/lib/nodetool.args"
        where = ("--net", "--mount", "--pid", "--uts", "--ipc", "--wd=/")
        words = (java, tool, "-h", "127.0.0.1", "-p", JMX, "compact", KEYSPACE, TABLE)
        return subprocess.Popen(
            ["nsenter", f"--target={self.pid}", *where, "--", *words],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )


def test_loading_is_measured_and_records_are_put_in_anew_when_a_run_needs_others(
    tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    name, path = written(tmp_path, PHASES)
    with started(name, tmp_path, str(path), "--results", str(tmp_path)) as running:
        lab = running.until(running.lab)
        running.until(lambda: driven(running, run="*-after-*"))
        there = Member.of(running).records
        finished(running)
    insist_nothing_left(name, {lab})
    opened = open_at(tmp_path / name)
    runs = {each.workload.name: each for each in opened.records}
    assert len(runs) == 5
    loading = measured(runs["loading"])
    assert loading.operations["insert"].count == loading.operations["all"].count == 20000
    (seen,) = (each for each in opened.analysis.runs if each.workload == "loading")
    assert seen.values["throughput"] == pytest.approx(20000 / loading.seconds)
    record_property("seen", f"loading: {seen.values['throughput']:.0f} op/s")
    for workload in ("many", "few", "after"):
        assert measured(runs[workload]).operations["read"].count > 100
    # Every record of the measured loading was found, and fewer take less room.
    many, few = runs["many"].data_size, runs["few"].data_size
    assert many is not None and few is not None
    assert many > 4 * few > 0
    inserted = measured(runs["inserting"]).operations["insert"].count
    assert inserted > 0
    assert there == 2000, f"{inserted} records were put in by the run before"
    record_property("seen", f"{inserted} inserted by D, then {there} records again")


def test_a_run_waits_until_a_compaction_is_over_and_its_record_says_for_how_long(
    tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    name, path = written(tmp_path, TWICE, settings=SLOWLY)
    with started(name, tmp_path, str(path), "--results", str(tmp_path)) as running:
        lab = running.until(running.lab)
        running.until(lambda: driven(running))
        member = Member.of(running)
        # The first run goes on to its end by itself; nobody begins a second one meanwhile.
        running.process.send_signal(signal.SIGSTOP)
        try:
            compaction = member.compact()
            running.until(lambda: member.compacts)
        finally:
            running.process.send_signal(signal.SIGCONT)
        seen = now = time.time()
        while member.compacts:
            seen, now = now, time.time()
            time.sleep(0.2)
        said, _ = compaction.communicate(timeout=PATIENCE)
        assert compaction.returncode == 0, said
        finished(running)
    insist_nothing_left(name, {lab})
    first, second = sorted(open_at(tmp_path / name).records, key=lambda each: each.position)
    assert measured(first).operations["all"].count > 100
    assert measured(second).operations["all"].count > 100
    assert first.settled is not None and second.settled is not None
    began = second.started - second.settled
    assert first.ended <= began
    assert began + LEAST < seen <= second.started
    assert second.settled > LEAST
    record_property(
        "seen",
        f"waited {first.settled:.1f} s before the first run, {second.settled:.1f} s before the "
        f"second, of which it compacted {seen - began:.1f} s",
    )
