"""Whole records: what all clients are asked for, what counts, and clients that warm up."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from engine import cassandra, mongodb
from engine.contenders import Contender, Counts, confirmed, in_all_loads
from engine.core import Core, CoreAsked, filling
from engine.shape import RECORDS
from engine.shots import Shot
from engine.table import ENGINE
from engine.warmed import TURNS, WarmUp, warm_up, warmed

ROOT = Path(__file__).parents[3]
LOAD, A, C = (CoreAsked(core, 64, 6400) for core in Core)


def test_what_is_asked_for_has_a_title() -> None:
    assert [asked.title for asked in (LOAD, A, C)] == [
        "load (inserts), 64 clients",
        "A (half reads, half updates), 64 clients",
        "C (reads), 64 clients",
    ]


@pytest.mark.parametrize("plan", [cassandra.COMPARISON.plan, mongodb.COMPARISON.plan])
def test_the_engine_is_told_the_same_for_either_database(plan: Any) -> None:
    schema = json.loads((ROOT / "schema" / "engine-load.schema.json").read_text())
    load, a, c = (plan(asked) for asked in (LOAD, A, C))
    for content in (load, a, c):
        jsonschema.validate(content, schema)
        workload = content["workload"]
        assert workload["fields"] * workload["field_lengths"]["length"] == 1000
        assert workload["requests"] == {"kind": "uniform"}
        assert workload["write_all_fields"] and not workload["hashed_keys"]
        assert content["level"] == {"kind": "threads", "threads": 64}
    assert (load["phase"], load["operations"], load["workload"]["records"]) == ("load", None, 6400)
    assert [content["operations"] for content in (a, c)] == [6400, 6400]
    assert [content["workload"]["records"] for content in (a, c)] == [RECORDS, RECORDS]
    mixes = [
        {name: share for name, share in content["workload"]["mix"].items() if share}
        for content in (a, c)
    ]
    assert mixes == [{"read": 0.5, "update": 0.5}, {"read": 1.0}]


@pytest.mark.parametrize(
    ("asked", "reads", "writes", "fits"),
    [
        (LOAD, 0, 6400, True),
        (LOAD, 1, 6399, False),
        (LOAD, 0, 6399, False),
        (C, 6400, 0, True),
        (C, 6399, 1, False),
        (A, 3100, 3300, True),
        (A, 6000, 400, False),
        (A, 3100, 3301, False),
        (replace(A, operations=2), 2, 0, True),
    ],
)
def test_what_a_server_counted_must_be_what_was_asked_for(
    asked: CoreAsked, reads: int, writes: int, fits: bool
) -> None:
    assert asked.fits(reads, writes) is fits


@dataclass
class Server:
    """One that counts what it is told, and clients of it that do `short` operations too few."""

    short: int = 0
    reads: int = 7
    writes: int = 9
    asked: list[CoreAsked] = field(default_factory=list)

    def counts(self) -> Counts:
        return Counts(self.reads, self.writes)

    def run(self, asked: CoreAsked) -> Shot:
        self.asked.append(asked)
        reads = {Core.LOAD: 0, Core.A: asked.operations // 2, Core.C: asked.operations}
        self.reads += reads[asked.core]
        self.writes += asked.operations - reads[asked.core] - self.short
        return Shot(asked.operations, 1, 1)


@pytest.mark.parametrize("asked", [LOAD, A, C])
def test_a_run_counts_when_client_and_server_agree(asked: CoreAsked) -> None:
    server = Server()
    assert confirmed("peer", server.run, server.counts, asked) == Shot(6400, 1, 1)


def test_a_client_that_did_something_else_ends_the_comparison() -> None:
    server = Server(short=1)
    told = r"peer, load \(inserts\), 64 clients: 6400 were asked for, it tells 6400, .* 6399 writes"
    with pytest.raises(SystemExit, match=told):
        confirmed("peer", server.run, server.counts, LOAD)


def test_all_clients_take_turns_and_have_all_records_before_they_read() -> None:
    server, order = Server(), list[str]()

    def run(name: str, asked: CoreAsked) -> Shot:
        order.append(f"{name} {asked.core} {asked.operations}")
        return replace(server.run(asked), seconds=asked.operations, cpu=asked.operations)

    said: list[str] = []
    contenders = [
        Contender(ENGINE, partial(run, "e")),
        Contender("n", partial(run, "n")),
        Contender("j", partial(run, "j"), java=True),
    ]
    taken = in_all_loads(contenders, 64, 128, TURNS + 1, {"j": 0.2, "not there": 0.5}, said.append)

    def turns(core: str) -> list[str]:
        warm = [f"e {core} 128", f"n {core} 128", *(f"j {core} {many}" for many in (128, 256, 512))]
        turn = [f"j {core} 128", f"j {core} 256"]
        there, back = [f"e {core} 128", f"n {core} 128"], [f"n {core} 128", f"e {core} 128"]
        half = TURNS // 2
        others = [*half * (there + back), *there]
        return [*warm, *others, *half * [f"e {core} 128", *turn, *turn, f"e {core} 128"]]

    filled = [f"{each} load {RECORDS}" for each in ("e", "n", "j")]
    assert order == [*filled, *turns("load"), *filled, *turns("A"), *turns("C")]
    assert taken.warm_ups == [
        f"j, {core}: a warm-up of 128 operations." for core in ("load", "A", "C")
    ]
    assert [(row.load.split()[0], row.client, row.goal) for row in taken.lines] == [
        (load, client, goal)
        for load in ("load", "A", "C")
        for client, goal in ((ENGINE, None), ("n", None), ("j", 0.2))
    ]
    assert len(said) == 3
    assert filling(64).records == RECORDS


def test_a_client_in_java_is_counted_by_what_twice_as_much_needed_more() -> None:
    runs = {100: Shot(100, 3.0, 2.5), 200: Shot(200, 4.0, 2.75)}
    assert warmed(runs.__getitem__, 100) == Shot(100, 2.0, 0.25)


@pytest.mark.parametrize(
    ("costs", "expected"),
    [
        ([9, 1, 1], WarmUp(100, settled=True)),
        ([9, 4, 2, 1, 1], WarmUp(400, settled=True)),
        ([9, 4, 2, 1.85], WarmUp(200, settled=True)),
        ([9, 8, 6, 4, 2], WarmUp(400, settled=False)),
    ],
)
def test_a_warm_up_is_as_long_as_operations_become_cheaper(
    costs: list[float], expected: WarmUp
) -> None:
    """`costs`: of each of the first 100 operations, of the next 100, of the next 200 and so on."""
    steps = [100, *(100 * 2**number for number in range(len(costs) - 1))]
    needed = [cost * many for cost, many in zip(costs, steps, strict=True)]
    runs = {
        sum(steps[:end]): Shot(sum(steps[:end]), 1, sum(needed[:end]))
        for end in range(1, len(steps) + 1)
    }
    assert warm_up(runs.__getitem__, 100) == expected


def test_what_a_warm_up_was_is_told() -> None:
    assert str(WarmUp(102_400, settled=True)) == "102,400 operations"
    assert str(WarmUp(64, settled=False)) == "64 operations, and it was still becoming faster"


def test_what_does_not_show_beside_the_start_of_java_is_told_with_the_next_command() -> None:
    runs = {100: Shot(100, 3.0, 2.5), 200: Shot(200, 4.0, 2.5)}
    with pytest.raises(SystemExit, match=r"do not show .* --operations 1000$"):
        warmed(runs.__getitem__, 100)


@dataclass
class Kept:
    """A server that keeps so many records whatever it is sent."""

    there: int
    emptied: list[str] = field(default_factory=list)

    def empty(self, database: str) -> None:
        self.emptied.append(database)

    def records(self, database: str) -> int:
        return self.there


@pytest.mark.parametrize(("asked", "there", "emptied"), [(LOAD, 6400, ["d"]), (C, RECORDS, [])])
def test_a_load_goes_into_an_empty_database_of_mongodb(
    asked: CoreAsked, there: int, emptied: list[str]
) -> None:
    server, client = Kept(there), Server()
    shot = mongodb.kept(server, "d", "peer", client.run, asked)  # type: ignore[arg-type]
    assert (shot.operations, server.emptied) == (6400, emptied)
    with pytest.raises(SystemExit, match=f"and the server has {there - 1} records"):
        mongodb.kept(Kept(there - 1), "d", "peer", client.run, asked)  # type: ignore[arg-type]
