"""`python -m bench.engine` with the real engine, floors and peers, in the small."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from argparse import Namespace
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
from engine.__main__ import Database, compare
from engine.asked import Kind
from engine.bench import Bench
from engine.core import Core, CoreAsked
from engine.parts import Part
from engine.shape import SHAPE, compared
from engine.table import Section

pytestmark = pytest.mark.live

ROOT = Path(__file__).parents[2]
PEER = "DUNNAGE_PEER_"
MEMTIER = f"{PEER}MEMTIER"
RATIO = r"\d+\.\d\d( \(\d+\.\d\d–\d+\.\d\d\))?"
"""Its interval needs more turns than most of these have."""
START = r"From the start of the engine's process to its first operation, \d+ connections .* \d+ ms"


def bench(*words: str, **variables: str) -> subprocess.CompletedProcess[str]:
    environment: Mapping[str, str] = {
        name: value for name, value in os.environ.items() if not name.startswith(PEER)
    }
    return subprocess.run(
        [sys.executable, "-m", "bench.engine", *words],
        cwd=ROOT,
        env={**environment, **variables},
        capture_output=True,
        text=True,
        check=False,
    )


def table(done: subprocess.CompletedProcess[str]) -> dict[tuple[str, str], list[str]]:
    """Load and client → the other cells, each of which must be well formed."""
    assert done.returncode == 0, done.stderr
    rows = [line.split(" | ") for line in done.stdout.splitlines() if line.startswith("| ")][2:]
    loads = {(row[0].removeprefix("| "), row[1]): row[2:] for row in rows}
    for (_, client), (cpu, ratio, _, throughput) in loads.items():
        assert re.fullmatch(r"\d+\.\d\d µs", cpu) and float(cpu.split()[0]) > 0
        if client != "engine":
            assert re.fullmatch(RATIO, ratio)
            assert re.fullmatch(rf"{RATIO} \|", throughput)
    return loads


def in_all_loads(clients: int, names: Sequence[str]) -> set[tuple[str, str]]:
    return {(CoreAsked(core, clients, 1).title, name) for core in Core for name in names}


def test_all_clients_of_redis_take_turns_and_the_table_shows_them(tmp_path: Path) -> None:
    words = ("--only", "redis", "--pairs", "2", "--operations", "320", "--write", str(tmp_path))
    done = bench(*words)
    loads = table(done)
    many = ("engine", "bare C loop, epoll", "redis-benchmark")
    assert set(loads) == {
        *((f"{kind} 1 KB, 32 connections", each) for kind in ("read", "write") for each in many),
        *(
            (f"{kind} 1 KB, 1 connection", each)
            for kind in ("read", "write")
            for each in ("engine", "bare C loop, epoll", "bare C loop, blocking")
        ),
    }
    for (_, client), (_, _, goal, _) in loads.items():
        assert re.fullmatch(r"(≤ \d\.\d: (reached|missed|not settled))?", goal)
        assert not goal or client != "engine"
    assert re.search(r"^## Redis 7\.\d+\.\d+$", done.stdout, re.MULTILINE)
    assert re.search(r"^- server on processor \d+, clients on processor \d+$", done.stdout, re.M)
    assert compared(SHAPE) in done.stdout
    assert f"Type: export {MEMTIER}=PATH" in done.stdout
    assert re.search(START, done.stdout)
    assert f"{(tmp_path / 'redis.md').read_text()}\n" == done.stdout


def test_a_comparison_that_fails_leaves_the_pages_of_those_before_it(tmp_path: Path) -> None:
    def done(_bench: Bench, turns: int, operations: int) -> Section:
        return Section("Done", [f"{turns} of {operations}"], [], [], operations)

    def failed(_bench: Bench, _turns: int, _operations: int) -> Section:
        raise SystemExit("it failed")

    chosen = {"one": Database(done, 7, 1, 3), "two": Database(failed, 7, 1, 3)}
    asked = Namespace(pairs=None, operations=None, without=[], write=tmp_path / "bench")
    with pytest.raises(SystemExit, match="it failed"):
        compare(chosen, asked)
    (page,) = (tmp_path / "bench").iterdir()
    assert page.name == "one.md"
    assert "## Done\n\n3 of 7\n" in page.read_text()


@pytest.mark.proof
def test_a_profile_tells_the_parts_of_the_engines_time_under_each_load() -> None:
    """`perf` comes with `make bench`."""
    words = ("-m", "bench.engine.profiled", "--only", "redis", "--operations", "51200")
    done = subprocess.run(
        [sys.executable, *words], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    rows = [line.split(" | ") for line in done.stdout.splitlines() if line.startswith("| Redis")]
    assert [row[0] for row in rows] == [f"| Redis, {k} 1 KB, 32 connections" for k in Kind]
    for row in rows:
        shares = [float(cell.rstrip("%")) for cell in row[1:-1]]
        assert 97 <= sum(shares) <= 103
        assert shares[list(Part).index(Part.KERNEL)] > 0
        assert shares[list(Part).index(Part.DRIVER)] > 0
        assert int(row[-1].rstrip(" |").replace(",", "")) > 100


@pytest.mark.proof
@pytest.mark.quiet  # Java's start and warm-up must be the same twice
def test_the_engine_and_ycsb_take_turns_on_mongodbs_protocol() -> None:
    done = bench("--only", "mongodb", "--pairs", "1", "--operations", "12800")
    loads = table(done)
    assert set(loads) == in_all_loads(32, ["engine", "YCSB"])
    assert all(
        re.fullmatch(r"≤ 0\.3: (reached|missed|not settled)", cells[2])
        for (_, client), cells in loads.items()
        if client == "YCSB"
    )
    assert re.search(START, done.stdout)
    assert "CPU of clients in Java is counted after a warm-up" in done.stdout


@pytest.mark.proof
@pytest.mark.quiet
@pytest.mark.timeout(600)
def test_the_engine_and_clients_in_java_take_turns_on_cassandra() -> None:
    """The number of operations is the server's own, or the comparison ends."""
    few = ("--pairs", "1", "--operations", "6400", "--without", "latte")
    done = bench("--only", "cassandra", *few)
    loads = table(done)
    assert set(loads) == in_all_loads(64, ["engine", "cassandra-stress", "YCSB"])
    goals = {client: cells[2].partition(":")[0] for (_, client), cells in loads.items()}
    assert goals == {"engine": "", "cassandra-stress": "≤ 0.15", "YCSB": "≤ 0.2"}
    assert re.search(r"^## Cassandra 5\.0\.\d+$", done.stdout, re.MULTILINE)
    assert "- `latte` was left out" in done.stdout
    assert f"- `cql-stress` was not compared: {PEER}CQL_STRESS does not name it." in done.stdout
    assert re.search(START, done.stdout)


@pytest.mark.proof
@pytest.mark.timeout(1800)
def test_latte_takes_turns_on_cassandra() -> None:
    """It is built the first time, which takes minutes."""
    without = ("--without", "cassandra-stress", "--without", "YCSB")
    done = bench("--only", "cassandra", "--pairs", "2", "--operations", "6400", *without)
    loads = table(done)
    assert set(loads) == in_all_loads(64, ["engine", "latte"])
    assert all(
        re.fullmatch(r"≤ 0\.5: (reached|missed|not settled)", cells[2])
        for (_, client), cells in loads.items()
        if client == "latte"
    )


@pytest.mark.proof
@pytest.mark.timeout(600)
def test_the_codecs_of_redis_come_to_the_same_and_are_compared() -> None:
    loads = table(bench("--only", "codec", "--pairs", "2", "--operations", "10000"))
    assert {client for _, client in loads} == {"engine", "redis-protocol", "fred's codec"}
    assert {load for load, _ in loads} == {
        "request to read",
        "request to write 1 KB",
        "answer to a write",
        "answer of 1 KB",
        "answer of ten fields of 100 bytes",
    }


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--only", "redis", "--operations", "33"), "--operations: a multiple of 32"),
        (("--operations", "32"), "--operations: a multiple of 64"),
        (("--operations", "0"), "--operations: a multiple of 64"),
        (("--pairs", "0"), "--pairs: 1 or more"),
        (("--only", "oracle"), "invalid choice: 'oracle'"),
    ],
)
def test_what_cannot_be_compared_is_refused(words: tuple[str, ...], told: str) -> None:
    done = bench(*words)
    assert done.returncode == 2
    assert told in done.stderr


def test_a_peer_that_is_named_wrongly_ends_the_comparison_before_it_begins() -> None:
    done = bench("--only", "redis", **{MEMTIER: "/no/such/memtier"})
    assert done.returncode == 1
    assert "`/no/such/memtier` cannot be executed" in done.stderr
    assert "| load |" not in done.stdout
