"""Redis' protocol: the engine's own codec beside `redis-protocol`, alone and as `fred` uses it."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Sequence
from pathlib import Path

from .bench import Bench
from .shots import Shot, ran
from .table import ENGINE, Line, Section, lines

ROOT = Path(__file__).parents[2]
PROGRAM = "redis_codec"
NOTE = (
    "The codecs alone, without a server, in one process: `crates/engine/benches/redis_codec.rs`. A "
    "request is written into a buffer that is there. An answer is copied into the buffer, its end "
    "is found, and whether it is an error. `redis-protocol` is used by its cheapest functions; the "
    "codec of `fred` makes a value of each answer, by the same crate."
)
_BUILD = ("cargo", "build", "--release", "--locked", "--quiet", "--example", PROGRAM)


def section(bench: Bench, pairs: int, operations: int) -> Section:
    """Each task by all codecs in turns. Raises SystemExit when the program cannot be built, or two
    codecs come to different results."""
    program = built()
    bench.tell("Redis' protocol: the codecs alone")
    done = ran([str(program), str(pairs), str(operations)], bench.processors.client)
    rows, verdict = told(done.said)
    return Section("Redis' protocol", [NOTE, verdict], rows, [], operations)


def built() -> Path:
    """The program, built by cargo. Raises SystemExit when that fails."""
    argv = [*_BUILD, "--message-format", "json"]
    done = subprocess.run(argv, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise SystemExit(f"`{' '.join(_BUILD)}` failed:\n{done.stderr.strip()}")
    messages = map(json.loads, done.stdout.splitlines())
    (path,) = (
        message["executable"]
        for message in messages
        if message["reason"] == "compiler-artifact" and message["target"]["name"] == PROGRAM
    )
    return Path(path)


def told(said: str) -> tuple[list[Line], str]:
    """A line for each task and codec, and which codec is the cheapest, by what the program says."""
    taken: dict[str, dict[str, list[Shot]]] = {}
    for line in map(json.loads, said.splitlines()):
        shot = Shot(line["operations"], line["seconds"], line["cpu"])
        taken.setdefault(line["task"], {}).setdefault(line["codec"], []).append(shot)
    rows = [row for task, shots in taken.items() for row in lines(task, shots, {})]
    return rows, _verdict(rows)


def _verdict(rows: Sequence[Line]) -> str:
    """One sentence: in how many tasks the engine's own is the cheapest, and by how much."""
    ratios = [row.cpu_ratio for row in rows if row.cpu_ratio is not None]
    means = [ratio.mean for ratio in ratios]
    tasks = {row.load for row in rows if row.client == ENGINE}
    dearer = sorted(
        {row.load for row in rows if row.cpu_ratio is not None and row.cpu_ratio.mean >= 1}
    )
    won = (
        f"The engine's own codec needs the least CPU in {len(tasks) - len(dearer)} of {len(tasks)}"
    )
    but = f", not for: {', '.join(dearer)}" if dearer else ""
    return (
        f"{won} tasks{but}. Its share of what the others need is {min(means):.2f} to "
        f"{max(means):.2f}."
    )
