"""Clients in Java, which take long to become fast: what an operation costs once they are."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from .shots import Shot

TURNS = 12
"""The most turns of such a client, for they are long."""
MOST = 4
"""The longest warm-up, as a multiple of the operations of all other clients."""
STILL = 0.9
"""A client is warm where twice as many operations that follow the counted ones cost at least this
share of what those cost, each."""
NOTE = (
    "CPU of clients in Java is counted after a warm-up: each runs twice in its turn, once for as "
    "long as its warm-up and once for twice as long, and what the second needed more is what "
    "counts. The start of Java, its connections and the warm-up are in both. Their throughput is "
    "that of the second run, warm-up included. How long a warm-up is, is tried before the turns: "
    "it is doubled until the operations that follow the counted ones cost at least "
    f"{STILL:.0%} of what those cost, each. It is {MOST} times the operations of a turn at most."
)
Run = Callable[[int], Shot]
"""Has a client carry out so many operations."""


@dataclass(frozen=True)
class WarmUp:
    """How many operations a client needs until it is as fast as it becomes."""

    operations: int
    settled: bool
    """Whether it was; else the longest warm-up that is tried did not show it."""

    def __str__(self) -> str:
        said = f"{self.operations:,} operations"
        return said if self.settled else f"{said}, and it was still becoming faster"


def warm_up(run: Run, operations: int) -> WarmUp:
    """Try how long it is: the first of `operations`, twice as many and so on after which as many
    cost nearly as much as those that follow them."""
    cpu = [run(operations).cpu, run(2 * operations).cpu]
    length = operations
    while True:
        cpu.append(run(4 * length).cpu)
        counted, later = (cpu[-2] - cpu[-3]) / length, (cpu[-1] - cpu[-2]) / (2 * length)
        settled = later >= STILL * counted
        if settled or 2 * length > MOST * operations:
            return WarmUp(length, settled)
        length *= 2


def warmed(run: Run, operations: int) -> Shot:
    """So many operations after a warm-up of as many. CPU: the difference of two runs of a client,
    which takes a number of operations. Seconds: the share of the longer one, because in a
    difference a busy machine would count twice.

    Raises SystemExit when the longer one did not need more CPU, as with too few operations, or when
    another program had the processor too.
    """
    short, long = run(operations), run(2 * operations)
    count, cpu = long.operations - short.operations, long.cpu - short.cpu
    if cpu <= 0:
        raise SystemExit(
            f"{operations} operations do not show beside the start of Java: {short.cpu:.2f} s of "
            f"CPU, and {long.cpu:.2f} s with twice as many. Let nothing else run here, or type: "
            f"python -m bench.engine --operations {10 * operations}"
        )
    return Shot(count, long.seconds * count / long.operations, cpu)
