"""Redis: the engine beside bare loops in C, redis-benchmark and memtier_benchmark."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path

from . import first, floors, ours
from .asked import Asked, Kind
from .bench import Bench, Client
from .peers import Found
from .redis_clients import BENCHMARK, MEMTIER, MEMTIER_NOTE, memtier, redis_benchmark
from .redis_server import RedisServer, redis_server
from .shape import DIGITS, KEY, NUMBER, RECORDS, SHAPE, Shape, compared
from .shots import Shot, in_turns
from .table import ENGINE, Section, lines

VERSION = "7.0"
MANY = 32
"""Connections beside those clients that can have many."""
EPOLL, BLOCKING = "bare C loop, epoll", "bare C loop, blocking"
GOALS: Mapping[int, Mapping[str, float]] = {MANY: {EPOLL: 1.3, BENCHMARK: 0.7}, 1: {BLOCKING: 1.4}}
"""Number of connections → client → what the engine's CPU per operation is to be at most, as a share
of that client's."""


def section(bench: Bench, pairs: int, operations: int) -> Section:
    """All loads, each by all clients in turns. Raises SystemExit when a client fails, or did other
    than it was asked for."""
    peers = Found(bench.environment, bench.without)
    program = peers.named(MEMTIER)
    notes = [compared(SHAPE)]
    if program is not None:
        notes.append(MEMTIER_NOTE)
    rows = []
    with redis_server(VERSION, bench.processors, bench.scratch) as server:
        title = f"Redis {server.version()}"
        fill(server, bench)
        for connections in GOALS:
            for kind in Kind:
                asked = Asked(kind, connections, operations)
                bench.tell(f"{title}: {asked.title}")
                taken = in_turns(_clients(server, bench, asked, program), pairs)
                rows += lines(asked.title, taken, GOALS[connections])
        driving = ours.driving(Asked(Kind.READ, MANY, MANY), server.place, SHAPE)
        notes.append(first.note(MANY, first.taken(bench, driving, server.place, pairs)))
    return Section(title, notes, rows, peers.absent, operations)


def fill(server: RedisServer, bench: Bench) -> None:
    """Put all records in. Raises SystemExit when the first or the last is not there."""
    ours.shot(bench.engine, ours.filling(server.place, SHAPE, MANY), server.place, bench.scratch)
    ends = [KEY.replace(NUMBER, f"{number:0{DIGITS}}") for number in (0, RECORDS - 1)]
    if server.cli("EXISTS", *ends) != str(len(ends)):
        raise SystemExit(f"the engine did not put `{ends[0]}` and `{ends[-1]}` in")


def confirmed(server: RedisServer, asked: Asked, shape: Shape, name: str, client: Client) -> Shot:
    """A shot of a client whose operations the server counted too. Raises SystemExit when it carried
    out another number of them."""
    command = (shape.read if asked.kind is Kind.READ else shape.write)[0]
    server.forget()
    shot = client()
    counts = {server.succeeded(command), shot.operations, asked.operations}
    if len(counts) > 1:
        raise SystemExit(
            f"{name}, {asked.title}: {asked.operations} were asked for, it tells "
            f"{shot.operations}, and the server {server.succeeded(command)} without error"
        )
    return shot


def _clients(
    server: RedisServer, bench: Bench, asked: Asked, memtier_program: Path | None
) -> dict[str, Client]:
    place = server.place
    clients: dict[str, Client] = {
        ENGINE: partial(
            ours.shot, bench.engine, ours.driving(asked, place, SHAPE), place, bench.scratch
        )
    }
    clients[EPOLL] = _floor("epoll", bench, server, asked)
    if asked.connections == 1:
        clients[BLOCKING] = _floor("blocking", bench, server, asked)
    else:
        clients[BENCHMARK] = partial(redis_benchmark, server, asked, SHAPE)
        if memtier_program is not None:
            clients[MEMTIER.name] = partial(
                memtier, memtier_program, place, asked, SHAPE, bench.scratch
            )
    return {
        name: partial(confirmed, server, asked, SHAPE, name, client)
        for name, client in clients.items()
    }


def _floor(name: str, bench: Bench, server: RedisServer, asked: Asked) -> Client:
    return partial(floors.shot, floors.built(name, bench.scratch), server.place, asked, SHAPE)
