"""Where the engine's CPU time goes under the loads of the comparisons, sampled by `perf`.

The kernel's timer samples: no counter of the processor is needed. A driver is the engine's own for
Redis and MongoDB, and the crate `scylla` for Cassandra.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dunnage.errors import DunnageError
from dunnage.software.engine import engine_path

from . import cassandra, mongodb, ours, redis
from .asked import Asked, Kind, Place
from .bench import Bench
from .cassandra_server import cassandra_server
from .comparison import Comparison
from .core import Core, CoreAsked, filling
from .machine import today
from .mongo_server import mongo_server
from .parts import Part, samples
from .redis_server import redis_server
from .shape import FIELDS, SHAPE
from .shots import processors, ran
from .table import grid

OPERATIONS = 204_800
RATE = 4000
"""Samples per second of CPU time."""

_NOTE = (
    "`make bench` writes this: shares of samples that the kernel's timer took of all of the "
    f"process, {RATE:,} for each second of its CPU time, start included. Of n samples a share of p "
    "has a standard error of √(p (1 − p) / n). Sampling takes CPU time itself, so their number "
    "does not tell what an operation needs. What the compiler put into another function "
    "counts there. The driver is the engine's own for Redis and MongoDB, and the crate `scylla` "
    "for Cassandra."
)


@dataclass(frozen=True)
class Load:
    """One that the engine carries out on a server that is there."""

    title: str
    plan: Mapping[str, Any]
    place: Place
    inserts: bool = False


def main() -> None:
    """Print the shares of all parts under each load; with `--write` into a file too."""
    parser = argparse.ArgumentParser(prog="python -m bench.engine.profiled", description=__doc__)
    parser.add_argument("--only", choices=LOADS, help="one of them; else all")
    parser.add_argument("--operations", type=int, default=OPERATIONS, help="of each load")
    parser.add_argument("--write", type=Path, help="a page for what is printed, as Markdown")
    asked = parser.parse_args()
    perf = shutil.which("perf")
    if perf is None:
        raise SystemExit("`perf` is not there; type: apt-get install linux-perf")
    rows: list[tuple[str, Counter[Part]]] = []
    try:
        with tempfile.TemporaryDirectory() as scratch:
            bench = Bench(engine_path(), processors(), Path(scratch), os.environ, _tell)
            for name, loads in LOADS.items():
                if asked.only in (None, name):
                    for load in loads(bench, asked.operations):
                        _tell(load.title)
                        rows.append((load.title, profile(perf, bench, load)))
    except DunnageError as error:
        raise SystemExit(f"{error}\n{error.hint}".strip()) from None
    text = page(rows, asked.operations)
    sys.stdout.write(text)
    if asked.write is not None:
        asked.write.parent.mkdir(parents=True, exist_ok=True)
        asked.write.write_text(text)


def profile(perf: str, bench: Bench, load: Load) -> Counter[Part]:
    """How many samples of the engine each part has. Raises SystemExit when an operation failed."""
    data, plan = bench.scratch / "perf.data", bench.scratch / "plan.json"
    plan.write_text(json.dumps(load.plan))
    engine = (bench.engine, "load", "--plan", plan, "--out", bench.scratch)
    record = (perf, "record", "-q", "-e", "cpu-clock", "-F", RATE, "-o", data, *engine)
    ran([*load.place.enter, *map(str, record)], load.place.processor)
    errors = json.loads((bench.scratch / "result.json").read_text())["errors"]
    if errors:
        raise SystemExit(f"operations of the engine failed: {errors}")
    columns = ("--no-children", "--stdio", "-g", "none", "--percent-limit", "0")
    report = (perf, "report", "-i", str(data), *columns, "-F", "sample,dso,sym")
    argv = [*report, "--field-separator", ";"]
    found = samples(subprocess.run(argv, capture_output=True, text=True, check=True).stdout)
    if not found:
        raise SystemExit(f"`perf` took no samples; type: {perf} record -e cpu-clock true")
    return found


def page(rows: Sequence[tuple[str, Counter[Part]]], operations: int) -> str:
    """The shares of all parts under each load, as Markdown."""
    head = ("load", *Part, "samples")
    cells = [
        [title, *(f"{found[part] / found.total():.0%}" for part in Part), f"{found.total():,}"]
        for title, found in rows
    ]
    return (
        "\n\n".join(
            [
                "# Where the engine's CPU time goes",
                _NOTE,
                f"- {today()}\n- operations of each load: {operations:,}",
                grid(head, cells, 1),
            ]
        )
        + "\n"
    )


def _redis(bench: Bench, operations: int) -> Iterator[Load]:
    with redis_server(redis.VERSION, bench.processors, bench.scratch) as server:
        redis.fill(server, bench)
        for kind in Kind:
            asked = Asked(kind, redis.MANY, operations)
            plan = ours.driving(asked, server.place, SHAPE)
            yield Load(f"Redis, {asked.title}", plan, server.place)


def _cassandra(bench: Bench, operations: int) -> Iterator[Load]:
    with cassandra_server(cassandra.VERSION, bench) as server:
        fields = "".join(f", field{number} varchar" for number in range(FIELDS))
        server.make(cassandra.OWN, f"y_id varchar PRIMARY KEY{fields}")
        yield from _core("Cassandra", cassandra.COMPARISON, bench, server.place, operations)


def _mongodb(bench: Bench, operations: int) -> Iterator[Load]:
    with mongo_server(bench) as server:
        for load in _core("MongoDB", mongodb.COMPARISON, bench, server.place, operations):
            # An insert of a record that is there would fail.
            if load.inserts:
                server.empty(mongodb.OWN)
            yield load


def _core(
    name: str, comparison: Comparison, bench: Bench, place: Place, operations: int
) -> Iterator[Load]:
    """All loads, each after one uncounted that warms the server up; inserts last."""
    run = comparison.engine(bench, place)
    run(filling(comparison.clients))
    for core in (Core.C, Core.A, Core.LOAD):
        asked = CoreAsked(core, comparison.clients, operations)
        if core is not Core.LOAD:
            run(asked)
        plan = comparison.plan(asked)
        yield Load(f"{name}, {asked.title}", plan, place, core is Core.LOAD)


LOADS: Mapping[str, Callable[[Bench, int], Iterator[Load]]] = {
    "redis": _redis,
    "cassandra": _cassandra,
    "mongodb": _mongodb,
}
"""The loads of each database."""


def _tell(text: str) -> None:
    sys.stderr.write(f"{text}\n")


if __name__ == "__main__":
    main()
