"""`python -m bench.engine` with the real engine, floors and peers, in the small."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest
from engine.shape import SHAPE, compared

pytestmark = pytest.mark.live

ROOT = Path(__file__).parents[2]
MEMTIER = "DUNNAGE_PEER_MEMTIER"
RATIO = r"\d+\.\d\d \(\d+\.\d\d–\d+\.\d\d\)"


def bench(*words: str, **variables: str) -> subprocess.CompletedProcess[str]:
    environment: Mapping[str, str] = {
        name: value for name, value in os.environ.items() if name != MEMTIER
    }
    return subprocess.run(
        [sys.executable, "-m", "bench.engine", *words],
        cwd=ROOT,
        env={**environment, **variables},
        capture_output=True,
        text=True,
        check=False,
    )


def test_all_clients_of_redis_take_turns_and_the_table_shows_them() -> None:
    done = bench("--only", "redis", "--pairs", "2", "--operations", "320")
    assert done.returncode == 0, done.stderr
    rows = [line.split(" | ") for line in done.stdout.splitlines() if line.startswith("| ")][2:]
    loads = {(row[0].removeprefix("| "), row[1]): row[2:] for row in rows}
    many = ("engine", "bare C loop, epoll", "redis-benchmark")
    assert set(loads) == {
        *((f"{kind} 1 KB, 32 connections", each) for kind in ("read", "write") for each in many),
        *(
            (f"{kind} 1 KB, 1 connection", each)
            for kind in ("read", "write")
            for each in ("engine", "bare C loop, blocking")
        ),
    }
    for (_, client), (cpu, ratio, goal, throughput) in loads.items():
        assert re.fullmatch(r"\d+\.\d\d µs", cpu) and float(cpu.split()[0]) > 0
        if client != "engine":
            assert re.fullmatch(RATIO, ratio)
            assert re.fullmatch(r"≤ \d\.\d: (reached|missed)", goal)
            assert re.fullmatch(rf"{RATIO} \|", throughput)
    assert re.search(r"^## Redis 7\.\d+\.\d+$", done.stdout, re.MULTILINE)
    assert re.search(r"^- server on processor \d+, clients on processor \d+$", done.stdout, re.M)
    assert compared(SHAPE) in done.stdout
    assert f"Type: export {MEMTIER}=PATH" in done.stdout


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--operations", "33"), "--operations: a multiple of 32"),
        (("--operations", "0"), "--operations: a multiple of 32"),
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
