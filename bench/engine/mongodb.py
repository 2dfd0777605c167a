"""MongoDB: the engine beside YCSB, on a server of its wire protocol."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from dunnage.model.layout import Address, Target

from . import core, first, mongo_java, ours, ycsb_client
from .bench import Bench
from .contenders import Contender, Run, in_all_loads
from .core import COMPARED, Core, CoreAsked
from .mongo_server import MongoServer, mongo_server
from .peers import Found
from .shots import Shot
from .table import ENGINE, Section
from .warmed import NOTE as WARMED_NOTE
from .ycsb_client import YCSB, Binding, ycsb_run

CLIENTS = 32
GOALS: Mapping[str, float] = {YCSB.name: 0.3}
"""Client → what the engine's CPU per operation is to be at most, as a share of that client's."""
OWN, THEIRS = "engine", "ycsb"
"""Databases: inserts of one would fail for records that the other has put in."""
BINDING = Binding(
    "mongodb",
    "MongoDocuments",
    {"mongodb.url": f"mongodb://127.0.0.1:{mongo_java.PORT}/{THEIRS}?w=1"},
)
NOTE = (
    f"The server is mongo-java-server {mongo_java.VERSION}: it speaks MongoDB's wire protocol and "
    "keeps records in memory. It keeps no account of operations; after a load it has all records."
)
_ADDRESS = Address("127.0.0.1", mongo_java.PORT)
TARGET = Target("mongodb", "single", (_ADDRESS,), frozenset({_ADDRESS}), {"database": OWN})


def section(bench: Bench, pairs: int, operations: int) -> Section:
    """All loads, each by both clients in turns. Raises SystemExit when a client fails, or did other
    than it was asked for."""
    title = "MongoDB's wire protocol"
    with mongo_server(bench) as server:
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
    notes = [COMPARED, NOTE]
    if YCSB.name in {each.name for each in contenders}:
        notes += [ycsb_client.note(YCSB.program(bench.environment), BINDING), WARMED_NOTE]
    return Section(title, [*notes, first.note(CLIENTS, seconds)], rows, absent, operations)


def plan(asked: CoreAsked) -> dict[str, Any]:
    """What the engine is asked for."""
    return core.plan(asked, TARGET)


def kept(server: MongoServer, database: str, name: str, run: Run, asked: CoreAsked) -> Shot:
    """A run, of inserts into an empty database. Raises SystemExit when the client tells another
    number of operations than it was asked for, or the server has not all records."""
    if asked.core is Core.LOAD:
        server.empty(database)
    shot = run(asked)
    there = server.records(database)
    if shot.operations != asked.operations or there != asked.records:
        raise SystemExit(
            f"{name}, {asked.title}: {asked.operations} were asked for, it tells "
            f"{shot.operations}, and the server has {there} records"
        )
    return shot


def _contenders(server: MongoServer, bench: Bench) -> tuple[list[Contender], list[str]]:
    """The clients that are there, and a sentence for each other one."""

    def contender(name: str, database: str, run: Run, *, java: bool = False) -> Contender:
        return Contender(name, partial(kept, server, database, name, run), java)

    def engine(asked: CoreAsked) -> Shot:
        return ours.shot(bench.engine, plan(asked), server.place, bench.scratch)

    found = [contender(ENGINE, OWN, engine)]
    peers = Found(bench.environment, bench.without)
    ycsb = ycsb_run(peers, server.own, server.prefix, BINDING)
    if ycsb is not None:
        found.append(contender(YCSB.name, THEIRS, ycsb, java=True))
    return found, peers.absent
