"""MongoDB: the engine beside YCSB, on a server of its wire protocol."""

from __future__ import annotations

from functools import partial

from dunnage.model.layout import Address, Target

from . import mongo_java
from .bench import Bench
from .comparison import Comparison
from .contenders import Contender, Run
from .core import Core, CoreAsked
from .mongo_server import MongoServer, mongo_server
from .peers import Found
from .shots import Shot
from .table import ENGINE, Section
from .ycsb_client import YCSB, Binding, ycsb_run

OWN, THEIRS = "engine", "ycsb"
"""Databases: inserts of one would fail for records that the other has put in."""
NOTE = (
    f"The server is mongo-java-server {mongo_java.VERSION}: it speaks MongoDB's wire protocol and "
    "keeps records in memory. It keeps no account of operations; after a load it has all records."
)
_ADDRESS = Address("127.0.0.1", mongo_java.PORT)
COMPARISON = Comparison(
    target=Target("mongodb", "single", (_ADDRESS,), frozenset({_ADDRESS}), {"database": OWN}),
    clients=32,
    goals={YCSB.name: 0.3},
    binding=Binding(
        "mongodb",
        "MongoDocuments",
        {"mongodb.url": f"mongodb://127.0.0.1:{mongo_java.PORT}/{THEIRS}?w=1"},
    ),
)


def section(bench: Bench, pairs: int, operations: int) -> Section:
    """All loads, each by both clients in turns. Raises SystemExit when a client fails, or did other
    than it was asked for."""
    title = "MongoDB's wire protocol"
    with mongo_server(bench) as server:
        contenders, absent = _contenders(server, bench)
        return COMPARISON.section(
            bench, title, server.place, contenders, absent, [NOTE], pairs, operations
        )


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

    found = [contender(ENGINE, OWN, COMPARISON.engine(bench, server.place))]
    peers = Found(bench.environment, bench.without)
    ycsb = ycsb_run(peers, server.own, server.prefix, COMPARISON.binding)
    if ycsb is not None:
        found.append(contender(YCSB.name, THEIRS, ycsb, java=True))
    return found, peers.absent
