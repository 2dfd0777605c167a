"""Cassandra's servers on a loopback of their own, and the engine that drives them there."""

from __future__ import annotations

import json
import subprocess
import time
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

from engine.cassandra_home import CassandraHome
from own_servers import OwnServers, errors

from dunnage.generators.engine import plan
from dunnage.model.choices import Arrivals, Phase
from dunnage.model.deployment import Workload
from dunnage.model.layout import Address, Software, Target
from dunnage.model.level import Level
from dunnage.model.load import LoadOrder
from dunnage.software.engine import engine_path

RECORDS, CONNECTIONS = 500, 32
ONE = {"read_consistency": "ONE", "write_consistency": "ONE"}
MEMBERS = ("127.0.0.1", "127.0.0.2")
FIELDS = ", ".join(f"field{number} varchar" for number in range(10))
SPARING = ("-Xms384M", "-Xmx384M", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")
"""Options of Java, of which the last takes a quarter less processor time."""


@dataclass(frozen=True)
class Asked:
    """What `dunnage-engine cql` left."""

    code: int
    answers: list[dict[str, Any]]
    said: str


class Ring(OwnServers):
    """A loopback with Cassandra's servers."""

    def __init__(
        self, directory: Path, members: Sequence[str] = MEMBERS, settings: str = ""
    ) -> None:
        """`settings` are added to the configuration of each."""
        super().__init__(directory, Software("cassandra", "5.0"))
        self.members, self.settings = members, settings
        self.tables = count(1)

    def token(self, number: int) -> int:
        """Of a member: equal parts, so that each has records that no other has."""
        return -(2**63) + number * 2**64 // len(self.members)

    def start(self, number: int) -> None:
        host = self.members[number]
        home = CassandraHome(self.directory / host, host, number, self.token(number))
        home.write(self.settings)
        argv = self.inside(*home.argv(self.prefix, SPARING))
        with (home.path / "log").open("wb") as log:
            # One process group, so that one signal reaches all members at the same moment.
            group = self.servers[0].pid if self.servers else 0
            self.servers.append(
                subprocess.Popen(
                    argv, stdout=log, stderr=subprocess.STDOUT, cwd=home.path, process_group=group
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
