"""The engine against a real Cassandra: a ring of two members on a loopback of its own."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from open_loads import found, insist_random_arrivals
from own_loopback import OwnLoopback
from read_back import RECORDS as LOADED
from read_back import (
    ReadBack,
    the_engine_finds_what_ycsb_loaded,
    ycsb_finds_what_the_engine_loaded,
)
from ycsb_original import Original

from dunnage.generators.engine import EngineGenerator, plan
from dunnage.model.choices import Arrivals, Phase
from dunnage.model.deployment import Workload
from dunnage.model.layout import Address, Software, Target
from dunnage.model.level import Level, Search
from dunnage.model.load import LoadOrder
from dunnage.model.record import Ending, Measurement
from dunnage.software.engine import engine_path

pytestmark = pytest.mark.live

RECORDS, CONNECTIONS = 500, 32
FIRST_KEY = "user6284781860667377211"
"""The key of the first record that a load phase inserts."""
ONE = {"read_consistency": "ONE", "write_consistency": "ONE"}
MEMBERS = ("127.0.0.1", "127.0.0.2")
# Half of the tokens each, so that every member has records that no other has.
TOKENS = (-(2**63), 0)
FIELDS = ", ".join(f"field{number} varchar" for number in range(10))
CONFIGURATION = """
cluster_name: engine
num_tokens: 1
initial_token: "{token}"
auto_bootstrap: false
partitioner: org.apache.cassandra.dht.Murmur3Partitioner
endpoint_snitch: SimpleSnitch
listen_address: {host}
rpc_address: {host}
# After Cassandra's own 2 s, servers that had just started beside other tests gave up writes.
read_request_timeout: 30s
range_request_timeout: 30s
write_request_timeout: 30s
commitlog_sync: periodic
commitlog_sync_period: 10s
data_file_directories: [{home}/data]
commitlog_directory: {home}/commitlog
saved_caches_directory: {home}/saved_caches
hints_directory: {home}/hints
cdc_raw_directory: {home}/cdc
seed_provider:
  - class_name: org.apache.cassandra.locator.SimpleSeedProvider
    parameters: [{{seeds: 127.0.0.1}}]
"""
LOGS = """<configuration>
  <appender name="OUT" class="ch.qos.logback.core.ConsoleAppender">
    <encoder><pattern>%-5level %date %logger - %msg%n</pattern></encoder>
  </appender>
  <root level="WARN"><appender-ref ref="OUT"/></root>
</configuration>
"""


@dataclass(frozen=True)
class Asked:
    """What `dunnage-engine cql` left."""

    code: int
    answers: list[dict[str, Any]]
    said: str


class Ring:
    """A loopback with Cassandra's servers."""

    def __init__(self, directory: Path) -> None:
        self.directory, self.loads, self.tables = directory, 0, count(1)
        self.loopback = OwnLoopback(Software("cassandra", "5.0"))
        self.inside, self.prefix = self.loopback.inside, self.loopback.prefix
        self.servers: list[subprocess.Popen[bytes]] = []

    def start(self, number: int) -> None:
        host = MEMBERS[number]
        home = self.directory / host
        home.mkdir()
        content = CONFIGURATION.format(host=host, token=TOKENS[number], home=home)
        (home / "cassandra.yaml").write_text(content)
        (home / "logback.xml").write_text(LOGS)
        argv = self.inside(
            f"{self.prefix}/bin/java",
            f"@{self.prefix}/lib/jvm.args",
            "-Xms384M",
            "-Xmx384M",
            "-XX:+UseSerialGC",
            "-XX:TieredStopAtLevel=1",  # a quarter less processor time
            f"-Dcassandra.config=file://{home}/cassandra.yaml",
            f"-Dcassandra.storagedir={home}",
            f"-Dlogback.configurationFile={home}/logback.xml",
            f"-Dcassandra.jmx.local.port={7199 + number}",
            "-Dcassandra.skip_wait_for_gossip_to_settle=0",
            "-Dcassandra.superuser_setup_delay_ms=0",
            "org.apache.cassandra.service.CassandraDaemon",
        )
        with (home / "log").open("wb") as log:
            # One process group, so that one signal reaches all members at the same moment.
            group = self.servers[0].pid if self.servers else 0
            self.servers.append(
                subprocess.Popen(
                    argv, stdout=log, stderr=subprocess.STDOUT, cwd=home, process_group=group
                )
            )

    def until_it_is_whole(self) -> None:
        """Each member answers and knows the other."""
        deadline = time.monotonic() + 120
        peers = "SELECT peer FROM system.peers_v2"
        while not all(len(self.rows(member, peers)) == 1 for member in MEMBERS):
            for server, member in zip(self.servers, MEMBERS, strict=True):
                log = (self.directory / member / "log").read_text(errors="replace")
                assert server.poll() is None, f"{member} ended: {log[-2000:]}"
                assert time.monotonic() < deadline, f"{member} is not ready: {log[-2000:]}"
            time.sleep(0.2)

    def table(self) -> str:
        """Make one more table of records that every member knows, and return its name."""
        name = f"table{next(self.tables)}"
        text = f"CREATE TABLE ycsb.{name} (y_id varchar PRIMARY KEY, {FIELDS})"
        made = self.cql(MEMBERS[0], "--timeout", "60", text)
        assert made.code == 0, made.said
        deadline = time.monotonic() + 60
        while len({self.schema(member) for member in MEMBERS}) > 1:
            assert time.monotonic() < deadline, "the members do not agree on the schema"
            time.sleep(0.1)
        return name

    def schema(self, member: str) -> str:
        """The version of the schema that a member has."""
        ((version,),) = self.rows(member, "SELECT schema_version FROM system.local")
        return str(version)

    def cql(self, member: str, *statements: str) -> Asked:
        argv = (str(engine_path()), "cql", "--address", f"{member}:9042", *statements)
        done = subprocess.run(self.inside(*argv), check=False, capture_output=True, text=True)
        lines = [json.loads(line) for line in done.stdout.splitlines()]
        return Asked(done.returncode, lines, done.stderr)

    def rows(self, member: str, statement: str) -> list[list[Any]]:
        asked = self.cql(member, statement)
        found: list[list[Any]] = asked.answers[0]["rows"] if asked.answers else []
        return found

    def load(self, content: dict[str, Any]) -> Measurement:
        self.loads += 1
        out = self.directory / f"load-{self.loads}"
        out.mkdir()
        (out / "plan.json").write_text(json.dumps(content))
        argv = self.inside(
            str(engine_path()), "load", "--plan", str(out / "plan.json"), "--out", str(out)
        )
        done = subprocess.run(argv, check=False, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        left = {name: (out / name).read_bytes() for name in ("result.json", "latency.hlog")}
        return EngineGenerator().parse([left])

    def close(self) -> None:
        for server in self.servers:
            server.kill()
            server.wait()
        self.loopback.close()


@pytest.fixture(scope="module")
def ring(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ring]:
    """Two members, of which each record is on one; and a keyspace that wants more copies."""
    home = Ring(tmp_path_factory.mktemp("ring"))
    try:
        for number in range(len(MEMBERS)):
            home.start(number)
        home.until_it_is_whole()
        for keyspace, copies in (("ycsb", 1), ("copies", 4)):
            strategy = f"{{'class': 'SimpleStrategy', 'replication_factor': {copies}}}"
            # It is answered when all members agree, which takes its time on a busy machine.
            made = home.cql(
                MEMBERS[0],
                *("--timeout", "60"),
                f"CREATE KEYSPACE {keyspace} WITH replication = {strategy}",
                f"CREATE TABLE {keyspace}.usertable (y_id varchar PRIMARY KEY, {FIELDS})",
            )
            assert made == Asked(0, [{"columns": [], "rows": []}] * 2, "")
        loaded = home.load(order(phase=Phase.LOAD))
        assert errors(loaded) == {}
        assert loaded.operations["insert"].count == RECORDS
        # Here, because workloads that come later insert more.
        count = "SELECT count(*) FROM ycsb.usertable"
        assert home.rows(MEMBERS[1], count) == [[RECORDS]]
        yield home
    finally:
        home.close()


def load_order(
    core: str = "A",
    phase: Phase = Phase.RUN,
    level: Level | None = None,
    options: dict[str, Any] | None = None,
    arrivals: Arrivals = Arrivals.CONSTANT,
) -> LoadOrder:
    address = Address(MEMBERS[0], 9042)
    return LoadOrder(
        workload=Workload.model_validate(
            {"name": core, "core": core, "phase": phase, "records": RECORDS}
        ),
        phase=phase,
        level=level or Level(threads=4),
        target=Target("cassandra", "ring", (address,), frozenset({address}), options or ONE),
        connections=CONNECTIONS,
        arrivals=arrivals,
        warmup=0.1,
        duration=None if phase is Phase.LOAD else 1.0,
        operations=None,
        timeout=40.0,
        seed=1,
    )


def order(
    core: str = "A",
    phase: Phase = Phase.RUN,
    level: Level | None = None,
    options: dict[str, Any] | None = None,
    **changes: Any,
) -> dict[str, Any]:
    return {**plan(load_order(core, phase, level, options), 0, 1), **changes}


def errors(measured: Measurement) -> dict[str, int]:
    return dict(measured.operations["all"].errors)


def test_records_lie_in_ycsbs_own_shape(ring: Ring) -> None:
    asked = f"SELECT * FROM ycsb.usertable WHERE y_id = '{FIRST_KEY}'"  # noqa: S608
    (one,) = ring.cql(MEMBERS[0], asked).answers
    assert one["columns"] == ["y_id", *(f"field{number}" for number in range(10))]
    assert [len(value) for value in one["rows"][0]] == [23, *[100] * 10]


@pytest.mark.parametrize("core", ["A", "B", "C", "D", "E", "F"])
def test_every_core_workload_runs_without_an_error(ring: Ring, core: str) -> None:
    measured = ring.load(order(core))
    assert errors(measured) == {}
    assert measured.operations["all"].count > 0
    # One member was named; the kernel tells of connections to both.
    assert measured.remotes == tuple(f"{member}:9042" for member in MEMBERS)


@pytest.mark.parametrize("fields", ["all-by-name", "one"])
def test_fields_that_are_asked_for_by_name_are_found(ring: Ring, fields: str) -> None:
    content = order("F")
    content["workload"]["read_fields"] = fields
    measured = ring.load(content)
    assert errors(measured) == {}
    assert measured.operations["all"].count > 0


def test_all_connections_are_there_before_the_load_begins(ring: Ring) -> None:
    content = order("C")
    content["target"]["options"]["connections"] = 3
    assert errors(ring.load(content)) == {}
    result = json.loads((ring.directory / f"load-{ring.loads}" / "result.json").read_text())
    # To each member three, and one to hear of changes.
    assert result["connections"] == 3 * len(MEMBERS) + 1
    assert result["consistency"] == {"read": "ONE", "write": "ONE"}
    assert result["shape"] == "row"


def test_poisson_arrivals_offer_the_rate_and_have_response_times(ring: Ring) -> None:
    rate, seconds = 1000.0, 4.0
    poisson = load_order("B", level=Level(rate=rate), arrivals=Arrivals.POISSON)
    insist_random_arrivals(ring.load(plan(replace(poisson, duration=seconds), 0, 1)), rate)


@pytest.mark.quiet
def test_a_search_ends_between_what_is_sustained_and_what_is_too_much(ring: Ring) -> None:
    """Both lie where a closed loop is: no open load gets more of a server than all that wait."""
    search = Search(start=500, precision=0.25, probes=20, probe=1.0)

    def drive(rate: float) -> tuple[LoadOrder, Measurement]:
        one = load_order("C", level=Level(rate=rate))
        return one, ring.load(plan(one, 0, 1))

    outcome = found(search, drive)
    closed = ring.load(order("C", level=Level(threads=CONNECTIONS), duration=2.0, warmup=1.0))
    capacity = closed.operations["all"].count / closed.seconds
    assert outcome.ended is Ending.FOUND, outcome
    assert outcome.rate is not None
    assert 0.3 * capacity < outcome.rate < 1.3 * capacity, (capacity, outcome)


def test_a_record_that_is_not_there_is_an_error(ring: Ring) -> None:
    content = order("C", operations=100, duration=None)
    content["workload"] |= {"records": 10**9, "requests": {"kind": "uniform"}}
    assert errors(ring.load(content)) == {"not_found": 100}


def test_a_consistency_beyond_the_living_members_is_unavailable(ring: Ring) -> None:
    options = {"keyspace": "copies", "read_consistency": "QUORUM", "write_consistency": "QUORUM"}
    content = order(phase=Phase.LOAD, options=options)
    content["workload"]["records"] = 8
    assert errors(ring.load(content)) == {"unavailable": 8}
    content["target"]["options"]["write_consistency"] = "TWO"
    assert errors(ring.load(content)) == {}


def test_what_the_server_refuses_is_told_in_its_words(ring: Ring) -> None:
    refused = ring.cql(MEMBERS[0], "SELECT * FROM ycsb.nowhere", "SELECT now()")
    assert (refused.code, refused.answers) == (1, [])
    assert refused.said == "dunnage-engine: `127.0.0.1:9042`: table nowhere does not exist\n"


@pytest.mark.parametrize("fields", ["all", "all-by-name", "one"])
def test_records_that_are_not_what_was_written_are_told(ring: Ring, fields: str) -> None:
    table = ring.table()

    def compared(content: dict[str, Any]) -> dict[str, Any]:
        content["workload"] |= {"integrity": True, "read_fields": fields}
        ring.load(content)
        result = ring.directory / f"load-{ring.loads}" / "result.json"
        told: dict[str, Any] = json.loads(result.read_text())
        return told

    options = {**ONE, "table": table}
    loaded = compared(order(phase=Phase.LOAD, options=options))
    assert (loaded["errors"], loaded["operations"]) == ({}, {"insert": RECORDS})
    run = compared(order("F", options=options))
    assert run["errors"] == {}
    assert run["verified"] == sum(run["operations"].values()) > 0

    wrong = ", ".join(f"field{number} = 'x'" for number in range(10))
    change = f"UPDATE ycsb.{table} SET {wrong} WHERE y_id = '{FIRST_KEY}'"  # noqa: S608
    changed = ring.cql(MEMBERS[0], change)
    assert changed.code == 0, changed.said
    reads = order("C", operations=100, duration=None, options=options)
    reads["workload"] |= {"records": 1, "requests": {"kind": "uniform"}}
    read = compared(reads)
    assert read["errors"] == {"read": {"mismatch": 100}}
    assert read["verified"] == 0
    assert any(FIRST_KEY in message for message in read["messages"])


Fresh = Callable[[], ReadBack]
"""Makes one more empty table."""


@pytest.fixture
def fresh(ring: Ring, tmp_path: Path) -> Fresh:
    original = Original(ring.loopback)

    def made() -> ReadBack:
        table = ring.table()
        directory = tmp_path / table
        directory.mkdir()

        def content() -> list[list[Any]]:
            rows = sorted(ring.rows(MEMBERS[1], f"SELECT * FROM ycsb.{table}"))  # noqa: S608
            assert len(rows) == LOADED
            return rows

        levels = "&".join(f"{name}={level}" for name, level in ONE.items())
        return ReadBack(
            original=original,
            address=f"cassandra://{MEMBERS[0]}/ycsb?{levels}",
            adapter="CassandraRows",
            properties={"hosts": MEMBERS[0], "cassandra.keyspace": "ycsb", "table": table},
            directory=directory,
            content=content,
        )

    return made


def test_ycsbs_own_client_reads_what_the_engine_loaded(fresh: Fresh) -> None:
    ycsb_finds_what_the_engine_loaded(fresh())


def test_the_engine_reads_what_ycsbs_own_client_loaded(fresh: Fresh) -> None:
    the_engine_finds_what_ycsb_loaded(fresh(), fresh())


@pytest.mark.quiet
def test_a_stall_of_two_seconds_is_in_the_response_times(ring: Ring) -> None:
    """Known answer at load ρ, T seconds long: response p99 = 2 − T (1 − ρ) / 100 s."""
    closed = ring.load(order("C", level=Level(threads=CONNECTIONS), duration=2.0, warmup=1.0))
    capacity = closed.operations["all"].count / closed.seconds
    rate, seconds = 500.0, 10.0
    # Those under way when it stops must be less than the hundredth part that p99 leaves out.
    assert rate * seconds / 100 > CONNECTIONS
    stopped: list[float] = []

    def stall() -> None:
        time.sleep(5)
        began = time.monotonic()
        os.killpg(ring.servers[0].pid, signal.SIGSTOP)
        time.sleep(2)
        os.killpg(ring.servers[0].pid, signal.SIGCONT)
        stopped.append(time.monotonic() - began)

    trouble = threading.Thread(target=stall)
    trouble.start()
    measured = ring.load(order("C", level=Level(rate=rate), duration=seconds, warmup=1.0))
    trouble.join()
    everything = measured.operations["all"]
    assert errors(measured) == {}
    assert everything.response is not None
    assert everything.service is not None
    assert everything.response.count == seconds * rate
    expected = stopped[0] - seconds / 100 * (1 - rate / capacity)
    assert everything.response.quantiles["p99"] == pytest.approx(expected, rel=0.03)
    assert everything.response.maximum == pytest.approx(stopped[0], rel=0.03)
    assert everything.service.quantiles["p99"] < 0.1
