"""Peers that drive Redis: redis-benchmark of its own tree, and memtier_benchmark."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path

from .asked import Asked, Kind, Place
from .peers import Peer
from .redis_server import RedisServer
from .shape import DIGITS, KEY, NUMBER, RECORDS, Shape
from .shots import Shot, ran

BENCHMARK = "redis-benchmark"
MEMTIER = Peer("memtier_benchmark", "DUNNAGE_PEER_MEMTIER")
_LOW = 10 ** (len(str(RECORDS - 1)) - 1)
"""memtier puts no zeros before a number: its lowest has as many digits as the last record's."""
MEMTIER_NOTE = (
    f"`{MEMTIER.name}` asks for the records {_LOW:,} to {RECORDS - 1:,} only, because it puts no "
    "zeros before numbers."
)


def redis_benchmark(server: RedisServer, asked: Asked, shape: Shape) -> Shot:
    """One run of it; all requests are one command, with random numbers in it."""
    argv = [*server.inside, f"{server.programs}/{BENCHMARK}"]
    argv += benchmark_arguments(server.place.port, asked, shape)
    done = ran(argv, server.place.processor)
    return Shot(asked.operations, asked.operations / benchmark_rate(done.said), done.cpu)


def benchmark_arguments(port: int, asked: Asked, shape: Shape) -> list[str]:
    """What redis-benchmark is told."""
    numbers = ("-p", port, "-c", asked.connections, "-n", asked.operations, "-r", RECORDS)
    return [*map(str, numbers), "-q", *_words(asked, shape)]


def benchmark_rate(said: str) -> float:
    """Requests per second by its last word on them. Raises SystemExit when it tells none."""
    rates = re.findall(r"([\d.]+) requests per second", said)
    if not rates:
        raise SystemExit(f"{BENCHMARK} tells no rate: {said.strip()[-200:]}")
    return float(rates[-1])


def memtier(program: Path, place: Place, asked: Asked, shape: Shape, scratch: Path) -> Shot:
    """One run of it on one thread."""
    out = scratch / "memtier.json"
    argv = [*place.enter, str(program), *memtier_arguments(place.port, asked, shape, out)]
    done = ran(argv, place.processor)
    operations, seconds = memtier_told(out.read_text())
    return Shot(operations, seconds, done.cpu)


def memtier_arguments(port: int, asked: Asked, shape: Shape, out: Path) -> list[str]:
    """What memtier_benchmark is told."""
    command = " ".join(word.replace(KEY, "__key__") for word in _words(asked, shape))
    zeros = "0" * (DIGITS - len(str(_LOW)))
    return [
        *("--server=127.0.0.1", f"--port={port}", "--threads=1"),
        *(f"--clients={asked.connections}", f"--requests={asked.operations // asked.connections}"),
        *(f"--command={command}", "--command-key-pattern=R"),
        f"--key-prefix={KEY.removesuffix(NUMBER)}{zeros}",
        *(f"--key-minimum={_LOW}", f"--key-maximum={RECORDS - 1}"),
        *("--distinct-client-seed", "--hide-histogram", f"--json-out-file={out}"),
    ]


def memtier_told(text: str) -> tuple[int, float]:
    """Operations and seconds by its file."""
    told = json.loads(text)["ALL STATS"]
    return told["Totals"]["Count"], told["Runtime"]["Total duration"] / 1000


def _words(asked: Asked, shape: Shape) -> Sequence[str]:
    return shape.read if asked.kind is Kind.READ else shape.write
