"""The engine beside redis-benchmark, on one Redis, in turns: ratios of CPU and throughput.

Each pair drives the same server right after one another, so that what the machine does besides
falls on both; the order within a pair alternates. Only ratios within a pair mean something.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from dunnage.generators.engine import plan
from dunnage.model.choices import Arrivals, Phase
from dunnage.model.deployment import Workload
from dunnage.model.layout import Address, Software, Target
from dunnage.model.level import Level
from dunnage.model.load import LoadOrder
from dunnage.software.engine import engine_path
from dunnage.software.trees import DebianSoftware

RECORDS, CONNECTIONS, OPERATIONS = 10_000, 32, 200_000
KEY = "user6284781860667377211"


@dataclass(frozen=True)
class Shot:
    """What one client did: operations per second, and CPU seconds per operation."""

    throughput: float
    cpu: float


def main() -> None:
    """Print the median ratios over some pairs, for reads and for writes of one record's 1 KB."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=5, help="more pairs, steadier medians")
    parser.add_argument("--port", type=int, default=16390, help="a free port on loopback")
    arguments = parser.parse_args()
    tree = DebianSoftware().tree(Software("redis", "7.0"))
    programs = f"{tree.prefix}/bin"
    enter = ["unshare", "--mount", "sh", "-c"]
    bind = f"mount -t tmpfs tmpfs /run && mkdir -p {tree.prefix} && "
    bind += f"mount --bind {tree.source} {tree.prefix} && "

    def inside(*argv: str) -> list[str]:
        return [*enter, bind + 'exec "$@"', "inside", *argv]

    server_argv = ("redis-server", "--port", str(arguments.port), "--save", "")
    server = subprocess.Popen(
        inside(f"{programs}/{server_argv[0]}", *server_argv[1:]), stdout=subprocess.DEVNULL
    )
    try:
        with tempfile.TemporaryDirectory() as scratch:
            engine(Path(scratch), arguments.port, Phase.LOAD, "C")
            peers: dict[str, Callable[[], Shot]] = {
                "read": lambda: peer(inside, programs, arguments.port, ("hgetall", KEY)),
                "write": lambda: peer(
                    inside, programs, arguments.port, ("hset", KEY, "field0", "x" * 100)
                ),
            }
            for name, core in (("read", "C"), ("write", "A")):
                shots = []
                for number in range(arguments.pairs):
                    both: list[Callable[[], Shot]] = [
                        partial(engine, Path(scratch), arguments.port, Phase.RUN, core),
                        peers[name],
                    ]
                    turned = number % 2 == 1
                    taken = [take() for take in (reversed(both) if turned else both)]
                    shots.append(tuple(reversed(taken)) if turned else tuple(taken))
                report(name, shots)
    finally:
        server.terminate()
        server.wait()


def report(name: str, shots: list[tuple[Shot, ...]]) -> None:
    """One line: medians of the ratios within pairs."""
    cpu = statistics.median(ours.cpu / theirs.cpu for ours, theirs in shots)
    throughput = statistics.median(ours.throughput / theirs.throughput for ours, theirs in shots)
    print(  # noqa: T201
        f"{name}: engine / redis-benchmark: CPU per operation {cpu:.2f}, "
        f"throughput {throughput:.2f} (medians of {len(shots)} pairs)"
    )


def engine(scratch: Path, port: int, phase: Phase, core: str) -> Shot:
    """One load by the engine. The server is up when its first connection is."""
    workload = Workload.model_validate(
        {"name": core, "core": core, "phase": phase, "records": RECORDS}
    )
    address = Address("127.0.0.1", port)
    operations = None if phase is Phase.LOAD else OPERATIONS
    content = plan(
        LoadOrder(
            workload=workload,
            phase=phase,
            level=Level(threads=CONNECTIONS),
            target=Target("redis", "single", (address,), frozenset({address}), {}),
            connections=CONNECTIONS,
            arrivals=Arrivals.CONSTANT,
            warmup=0.0,
            duration=None,
            operations=operations,
            timeout=10.0,
            seed=1,
        ),
        0,
        1,
    )
    if core == "A":
        content["workload"]["mix"] = {**content["workload"]["mix"], "read": 0.0, "update": 1.0}
    (scratch / "plan.json").write_text(json.dumps(content))
    argv = [str(engine_path()), "load", "--plan", f"{scratch}/plan.json", "--out", str(scratch)]
    subprocess.run(argv, check=True, stdout=subprocess.DEVNULL)
    result = json.loads((scratch / "result.json").read_text())
    done = sum(result["operations"].values())
    cpu = result["cpu_user"] + result["cpu_system"]
    return Shot(done / result["seconds"], cpu / done)


def peer(
    inside: Callable[..., list[str]], programs: str, port: int, command: tuple[str, ...]
) -> Shot:
    """The same by redis-benchmark: all of its process, and the rate that it prints."""
    before, began = os.times(), time.monotonic()
    argv = inside(
        f"{programs}/redis-benchmark", "-p", str(port), "-c", str(CONNECTIONS), "-n",
        str(OPERATIONS), "-q", *command,
    )  # fmt: skip
    said = subprocess.run(argv, check=True, capture_output=True, text=True).stdout
    after, seconds = os.times(), time.monotonic() - began
    cpu = after.children_user + after.children_system
    cpu -= before.children_user + before.children_system
    rates = re.findall(r"([\d.]+) requests per second", said)
    rate = float(rates[-1]) if rates else OPERATIONS / seconds
    return Shot(rate, cpu / OPERATIONS)


if __name__ == "__main__":
    main()
