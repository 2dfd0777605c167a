"""Cassandra's servers on a loopback of their own, and the engine that drives them there."""

from __future__ import annotations

import json
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

from own_loopback import OwnLoopback

from dunnage.generators.engine import LOG, RESULT, EngineGenerator, plan
from dunnage.model.choices import Arrivals, Phase
from dunnage.model.deployment import Workload
from dunnage.model.layout import Address, Software, Target
from dunnage.model.level import Level
from dunnage.model.load import LoadOrder
from dunnage.model.record import Measurement
from dunnage.software.engine import engine_path

ENVIRONMENT = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin"}
"""All variables that the engine has, unless it is given some."""
RECORDS, CONNECTIONS = 500, 32
ONE = {"read_consistency": "ONE", "write_consistency": "ONE"}
MEMBERS = ("127.0.0.1", "127.0.0.2")
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

    def __init__(
        self, directory: Path, members: Sequence[str] = MEMBERS, settings: str = ""
    ) -> None:
        """`settings` are added to the configuration of each."""
        self.directory, self.members, self.settings = directory, members, settings
        self.loads, self.tables = count(1), count(1)
        self.loopback = OwnLoopback(Software("cassandra", "5.0"))
        self.inside, self.prefix = self.loopback.inside, self.loopback.prefix
        self.servers: list[subprocess.Popen[bytes]] = []

    def token(self, number: int) -> int:
        """Of a member: equal parts, so that each has records that no other has."""
        return -(2**63) + number * 2**64 // len(self.members)

    def start(self, number: int) -> None:
        host = self.members[number]
        home = self.directory / host
        home.mkdir()
        content = CONFIGURATION.format(host=host, token=self.token(number), home=home)
        (home / "cassandra.yaml").write_text(content + self.settings)
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
        """Each member answers and knows the others."""
        deadline = time.monotonic() + 60 * len(self.members)
        peers, others = "SELECT peer FROM system.peers_v2", len(self.members) - 1
        while not all(len(self.rows(member, peers)) == others for member in self.members):
            self.wait(deadline)

    def wait(self, deadline: float) -> None:
        """A moment longer for servers that live, until `time.monotonic` says `deadline`."""
        for server, member in zip(self.servers, self.members, strict=True):
            log = (self.directory / member / "log").read_text(errors="replace")
            assert server.poll() is None, f"{member} ended: {log[-2000:]}"
            assert time.monotonic() < deadline, f"{member} is not ready: {log[-2000:]}"
        time.sleep(0.2)

    def make(self, keyspace: str, copies: int) -> None:
        """A keyspace with YCSB's table, of whose records there are so many copies."""
        strategy = f"{{'class': 'SimpleStrategy', 'replication_factor': {copies}}}"
        made = self.cql(
            self.members[0],
            *("--timeout", "60"),
            f"CREATE KEYSPACE {keyspace} WITH replication = {strategy}",
            f"CREATE TABLE {keyspace}.usertable (y_id varchar PRIMARY KEY, {FIELDS})",
        )
        assert made == Asked(0, [{"columns": [], "rows": []}] * 2, "")
        self.agree()

    def table(self) -> str:
        """Make one more table of records that every member knows, and return its name."""
        name = f"table{next(self.tables)}"
        text = f"CREATE TABLE ycsb.{name} (y_id varchar PRIMARY KEY, {FIELDS})"
        made = self.cql(self.members[0], "--timeout", "60", text)
        assert made.code == 0, made.said
        self.agree()
        return name

    def agree(self) -> None:
        """Every member has the same schema. One that has just started asks for it late."""
        deadline = time.monotonic() + 60
        while len({self.schema(member) for member in self.members}) > 1:
            assert time.monotonic() < deadline, "the members do not agree on the schema"
            time.sleep(0.1)

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

    def engine(
        self, content: Mapping[str, Any], **variables: str
    ) -> tuple[Path, subprocess.Popen[str]]:
        """An engine that has begun a plan, and the directory that it writes into."""
        out = self.directory / f"load-{next(self.loads)}"
        out.mkdir()
        (out / "plan.json").write_text(json.dumps(content))
        argv = self.inside(
            str(engine_path()), "load", "--plan", str(out / "plan.json"), "--out", str(out)
        )
        pipe, environment = subprocess.PIPE, ENVIRONMENT | variables
        return out, subprocess.Popen(argv, stdout=pipe, stderr=pipe, text=True, env=environment)

    def made(self, content: Mapping[str, Any], **variables: str) -> Path:
        """The directory of a load that ended well. `variables` are the engine's environment."""
        out, engine = self.engine(content, **variables)
        _, said = engine.communicate()
        assert engine.returncode == 0, said
        return out

    def result(self, content: Mapping[str, Any], **variables: str) -> dict[str, Any]:
        """What the engine says of a load."""
        told: dict[str, Any] = json.loads((self.made(content, **variables) / RESULT).read_text())
        return told

    def refused(self, content: Mapping[str, Any], **variables: str) -> str:
        """What the engine says of a load that it cannot make."""
        _, engine = self.engine(content, **variables)
        _, said = engine.communicate()
        assert engine.returncode == 1, said
        return said

    def load(self, content: Mapping[str, Any]) -> Measurement:
        out = self.made(content)
        return EngineGenerator().parse(
            [{name: (out / name).read_bytes() for name in (RESULT, LOG)}]
        )

    def close(self) -> None:
        for server in self.servers:
            server.kill()
            server.wait()
        self.loopback.close()


def load_order(
    core: str = "A",
    phase: Phase = Phase.RUN,
    level: Level | None = None,
    options: dict[str, Any] | None = None,
    arrivals: Arrivals = Arrivals.CONSTANT,
) -> LoadOrder:
    """A load of the ring that the first member tells of."""
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
    """Its plan, with other words in it."""
    return {**plan(load_order(core, phase, level, options), 0, 1), **changes}


def errors(measured: Measurement) -> dict[str, int]:
    return dict(measured.operations["all"].errors)


def of_one_copy(ring: Ring) -> None:
    """Start all members, and have the engine load records of which each is on one of them."""
    for number in range(len(ring.members)):
        ring.start(number)
    ring.until_it_is_whole()
    ring.make("ycsb", 1)
    loaded = ring.load(order(phase=Phase.LOAD))
    assert errors(loaded) == {}, errors(loaded)
    assert loaded.operations["insert"].count == RECORDS
    # Here, because workloads that come later insert more.
    count = "SELECT count(*) FROM ycsb.usertable"
    assert ring.rows(ring.members[-1], count) == [[RECORDS]]
