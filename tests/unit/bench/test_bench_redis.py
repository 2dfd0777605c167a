"""Redis: what each client is told, what is read of what it says, and the server's own account."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import cast

import jsonschema
import pytest
from engine import ours
from engine.asked import Asked, Kind, Place
from engine.redis import confirmed
from engine.redis_clients import (
    benchmark_arguments,
    benchmark_rate,
    memtier_arguments,
    memtier_told,
)
from engine.redis_server import RedisServer, succeeded, version
from engine.shape import HASH, RECORDS, STRINGS, compared
from engine.shots import Shot

ROOT = Path(__file__).parents[3]
FIXTURES = ROOT / "tests" / "fixtures" / "bench"
PLACE = Place(6379, 1)
READ, WRITE = Asked(Kind.READ, 32, 6400), Asked(Kind.WRITE, 1, 100)


def test_what_is_asked_for_has_a_title() -> None:
    assert READ.title == "read 1 KB, 32 connections"
    assert WRITE.title == "write 1 KB, 1 connection"


def test_the_table_says_what_was_compared() -> None:
    assert compared(HASH) == (
        "Each of 10,000 records is a hash of ten fields of 100 bytes, as YCSB keeps it: read by "
        "`HGETALL`, written whole by `HSET`, all records equally likely."
    )
    assert compared(STRINGS) == (
        "Each of 10,000 records is a plain string of 1000 bytes: read by `GET`, written whole by "
        "`SET`, all records equally likely."
    )


def test_the_engine_is_told_what_the_others_are() -> None:
    schema = json.loads((ROOT / "schema" / "engine-load.schema.json").read_text())
    plans = [ours.filling(PLACE, HASH, 32), ours.driving(READ, PLACE, HASH)]
    plans.append(ours.driving(WRITE, PLACE, HASH))
    for plan in plans:
        jsonschema.validate(plan, schema)
        assert plan["target"]["addresses"] == ["127.0.0.1:6379"]
        workload = plan["workload"]
        assert (workload["records"], workload["zero_padding"]) == (RECORDS, 12)
        assert workload["fields"] * workload["field_lengths"]["length"] == 1000
        assert workload["requests"] == {"kind": "uniform"}
        assert not workload["hashed_keys"]
    filling, read, write = plans
    assert (filling["phase"], filling["operations"]) == ("load", None)
    assert (read["phase"], read["operations"]) == ("run", 6400)
    assert read["level"] == {"kind": "threads", "threads": 32}
    assert write["level"] == {"kind": "threads", "threads": 1}
    mixes = [
        {name: part for name, part in plan["workload"]["mix"].items() if part} for plan in plans
    ]
    assert mixes[1:] == [{"read": 1.0}, {"update": 1.0}]
    assert write["workload"]["write_all_fields"]
    assert read["workload"]["read_fields"] == "all"


def test_the_engine_is_told_how_records_lie() -> None:
    options = [ours.filling(PLACE, shape, 1)["target"]["options"] for shape in (HASH, STRINGS)]
    assert options == [{}, {"shape": "string"}]


def test_the_plan_of_one_load_does_not_change_that_of_the_next() -> None:
    before = ours.driving(replace(WRITE, kind=Kind.READ), PLACE, HASH)
    ours.driving(WRITE, PLACE, HASH)
    assert ours.driving(replace(WRITE, kind=Kind.READ), PLACE, HASH) == before


def test_redis_benchmark_is_told_the_same() -> None:
    words = benchmark_arguments(6379, READ, HASH)
    assert " ".join(words) == ("-p 6379 -c 32 -n 6400 -r 10000 -q HGETALL user__rand_int__")
    words = benchmark_arguments(6379, WRITE, HASH)
    assert words[9:13] == ["HSET", "user__rand_int__", "field0", "x" * 100]
    assert len(words) == 9 + 2 + 20


def test_memtier_is_told_the_same_by_its_own_names() -> None:
    words = memtier_arguments(6379, READ, HASH, Path("/out.json"))
    assert {"--clients=32", "--requests=200", "--threads=1", "--port=6379"} <= set(words)
    assert "--command=HGETALL __key__" in words
    assert {"--key-prefix=user00000000", "--key-minimum=1000", "--key-maximum=9999"} <= set(words)
    (command,) = (
        word for word in memtier_arguments(6379, WRITE, HASH, Path("/out")) if "--command=" in word
    )
    assert command.startswith(f"--command=HSET __key__ field0 {'x' * 100} field1 ")


def test_the_rate_of_redis_benchmark_is_its_last_word() -> None:
    assert benchmark_rate((FIXTURES / "redis-benchmark.txt").read_text()) == 7476.64
    with pytest.raises(SystemExit, match="redis-benchmark tells no rate: Could not connect"):
        benchmark_rate("Could not connect\n")


def test_memtier_tells_operations_and_seconds() -> None:
    assert memtier_told((FIXTURES / "memtier.json").read_text()) == (32_000, 2.363)


def test_the_server_counts_what_it_carried_out_without_error() -> None:
    info = (FIXTURES / "commandstats.txt").read_text()
    assert succeeded(info, "HGETALL") == 32_000  # and one for what is no hash
    assert succeeded(info, "HGET") == 1
    assert succeeded(info, "HSET") == 0  # one that was rejected for lack of a value
    assert succeeded(info, "GET") == 0  # none came


def test_the_server_tells_its_version() -> None:
    info = (ROOT / "tests" / "fixtures" / "redis" / "primary-info.txt").read_text()
    assert version(info) == "7.0.15"
    with pytest.raises(SystemExit, match="does not tell its version"):
        version("# Server\n")


@dataclass
class Counting:
    """A server whose account is known."""

    count: int
    forgot: int = 0

    def forget(self) -> None:
        self.forgot += 1

    def succeeded(self, command: str) -> int:
        return self.count if command == "HGETALL" else -1


def test_a_shot_counts_when_client_and_server_agree() -> None:
    server, shot = Counting(6400), Shot(6400, 1, 1)
    assert confirmed(cast("RedisServer", server), READ, HASH, "peer", lambda: shot) == shot
    assert server.forgot == 1


@pytest.mark.parametrize(("tells", "counts"), [(6400, 6399), (6399, 6400), (6399, 6399)])
def test_a_client_that_did_something_else_ends_the_comparison(tells: int, counts: int) -> None:
    server = cast("RedisServer", Counting(counts))
    told = f"peer, read 1 KB, 32 connections: 6400 were asked for, it tells {tells}, .*{counts}"
    with pytest.raises(SystemExit, match=told):
        confirmed(server, READ, HASH, "peer", lambda: Shot(tells, 1, 1))
