"""Cassandra: the engine beside latte, cassandra-stress, cql-stress, YCSB and go-ycsb."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

from dunnage.model.layout import Address, Target

from . import core, first, ours, ycsb_client
from .bench import Bench
from .cassandra_server import PORT, CassandraServer, Table, cassandra_server
from .contenders import Contender, Run, confirmed, in_all_loads
from .core import COMPARED, Core, CoreAsked
from .go_ycsb import GO_YCSB, go_ycsb
from .latte import LATTE, latte, latte_of_crates
from .latte import NOTE as LATTE_NOTE
from .latte import TABLE as LATTE_TABLE
from .peers import Found
from .shape import FIELDS
from .stress import CQL_STRESS, FIXED, PLAIN, STRESS, stress, stress_of_maven
from .stress import NOTE as STRESS_NOTE
from .stress import TABLE as STRESS_TABLE
from .table import ENGINE, Section
from .warmed import NOTE as WARMED_NOTE
from .ycsb_client import YCSB, Binding, ycsb_run

VERSION = "5.0"
CLIENTS = 64
GOALS: Mapping[str, float] = {
    LATTE.name: 0.5,
    CQL_STRESS.name: 0.8,
    STRESS.name: 0.15,
    YCSB.name: 0.2,
}
"""Client → what the engine's CPU per operation is to be at most, as a share of that client's."""
OWN = Table("ycsb", "usertable")
"""The engine's, and YCSB's."""
GO = Table("go", "usertable")
"""It is made by go-ycsb, whose key has another name."""
BINDING = Binding(
    "cassandra-cql",
    "CassandraRows",
    {
        "hosts": "127.0.0.1",
        "cassandra.keyspace": OWN.keyspace,
        "cassandra.readconsistencylevel": "ONE",
        "cassandra.writeconsistencylevel": "ONE",
    },
)
_ADDRESS = Address("127.0.0.1", PORT)
TARGET = Target(
    "cassandra",
    "ring",
    (_ADDRESS,),
    frozenset({_ADDRESS}),
    {"read_consistency": "ONE", "write_consistency": "ONE"},
)


def section(bench: Bench, pairs: int, operations: int) -> Section:
    """All loads, each by all clients in turns. Raises SystemExit when a client fails, or did other
    than it was asked for."""
    with cassandra_server(VERSION, bench) as server:
        title = f"Cassandra {server.version()}"
        for table, kind in ((OWN, "varchar"), (LATTE_TABLE, "blob")):
            fields = "".join(f", field{number} {kind}" for number in range(FIELDS))
            server.make(table, f"y_id varchar PRIMARY KEY{fields}")
        server.make_keyspace(GO.keyspace)
        contenders, absent = _contenders(server, bench)
        rows = in_all_loads(
            contenders,
            CLIENTS,
            operations,
            pairs,
            GOALS,
            lambda said: bench.tell(f"{title}: {said}"),
        )
        few = CoreAsked(Core.C, CLIENTS, CLIENTS)
        seconds = first.taken(bench, plan(few), server.place, pairs)
    there = {each.name for each in contenders}
    notes = [COMPARED]
    notes += [LATTE_NOTE] if LATTE.name in there else []
    notes += [STRESS_NOTE] if {STRESS.name, CQL_STRESS.name} & there else []
    if YCSB.name in there:
        notes.append(ycsb_client.note(YCSB.program(bench.environment), BINDING))
    notes += [WARMED_NOTE] if any(each.java for each in contenders) else []
    notes.append(first.note(CLIENTS, seconds))
    return Section(title, notes, rows, absent, operations)


def plan(asked: CoreAsked) -> dict[str, Any]:
    """What the engine is asked for."""
    return core.plan(asked, TARGET)


def _contenders(server: CassandraServer, bench: Bench) -> tuple[list[Contender], list[str]]:
    """The clients that are there, and a sentence for each other one."""
    place, peers = server.place, Found(bench.environment, bench.without)
    found: list[Contender] = []

    def add(name: str, table: Table, run: Run, *, java: bool = False) -> None:
        counts = partial(server.counts, table)
        found.append(Contender(name, partial(confirmed, name, run, counts), java))

    def outside(program: Path) -> tuple[str, ...]:
        return (*place.enter, str(program))

    add(ENGINE, OWN, lambda asked: ours.shot(bench.engine, plan(asked), place, bench.scratch))
    program = peers.offered(LATTE, latte_of_crates, Path)
    if program is not None:
        add(LATTE.name, LATTE_TABLE, partial(latte, program, place, bench.scratch))
    program = peers.named(CQL_STRESS)
    if program is not None:
        add(CQL_STRESS.name, STRESS_TABLE, partial(stress, outside(program), PLAIN, place))
    of_maven = partial(stress_of_maven, server.own.inside, server.prefix)
    words = peers.offered(STRESS, of_maven, outside)
    if words is not None:
        add(STRESS.name, STRESS_TABLE, partial(stress, words, FIXED, place), java=True)
    ycsb = ycsb_run(peers, server.own, server.prefix, BINDING)
    if ycsb is not None:
        add(YCSB.name, OWN, ycsb, java=True)
    program = peers.named(GO_YCSB)
    if program is not None:
        own = {"cassandra.cluster": f"127.0.0.1:{PORT}", "cassandra.keyspace": GO.keyspace}
        add(GO_YCSB.name, GO, partial(go_ycsb, program, "cassandra", own, place))
    return found, peers.absent
