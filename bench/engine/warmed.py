"""Clients in Java, which take long to become fast: what an operation costs once they are."""

from __future__ import annotations

from collections.abc import Callable

from .shots import Shot

NOTE = (
    "CPU of clients in Java is counted after a warm-up: each runs twice in its turn, with as many "
    "operations as all others and with twice as many, and what the second needed more is what "
    "counts. The start of Java, its connections and the warm-up are in both. Their throughput is "
    "that of the second run, warm-up included."
)


def warmed(run: Callable[[int], Shot], operations: int) -> Shot:
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
