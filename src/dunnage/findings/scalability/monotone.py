"""What a closed loop can do within a latency objective, by monotone fits over its levels."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np

from dunnage.analysis.intervals import over_blocks
from dunnage.findings.scalability.law import Floats
from dunnage.model.scalability import UnderObjective

MINIMUM_LEVELS = 3
"""Two levels have nothing between which latency could be seen to bend."""


def under_objectives(
    metric: str,
    objectives: Sequence[float],
    latency: dict[int, Floats],
    throughput: dict[int, Floats],
) -> tuple[UnderObjective, ...]:
    """Highest throughput within each objective (seconds), over blocks.

    `latency` and `throughput` are logs by level, lightest first, of every block that has all
    levels; nothing where no block has both.
    """
    both = sorted(latency.keys() & throughput.keys())
    found = []
    for objective in objectives if both else ():
        reached = {
            block: within(math.log(objective), latency[block], throughput[block]) for block in both
        }
        known = {block: most for block, (most, _) in reached.items() if most is not None}
        estimate = over_blocks(known, "op/s") if len(known) == len(reached) else None
        found.append(
            UnderObjective(
                metric=metric,
                objective=objective,
                throughput=estimate,
                at_least=any(always for _, always in reached.values()),
            )
        )
    return tuple(found)


def within(objective: float, latency: Floats, throughput: Floats) -> tuple[float | None, bool]:
    """(log of the highest throughput or None, whether even the heaviest level keeps it).

    Latency is made never to fall over levels (isotonic least squares on the logs; Barlow and others
    1972). Between the last level that keeps the objective and the next, both are interpolated.
    """
    from scipy.optimize import isotonic_regression  # half a second to load, for these levels only

    rising = np.asarray(isotonic_regression(latency).x)
    kept = int(np.searchsorted(rising, objective, side="right"))
    if kept == 0:
        return None, False
    most = float(throughput[:kept].max())
    if kept == len(rising):
        return most, True
    below, above = float(rising[kept - 1]), float(rising[kept])
    part = (objective - below) / (above - below)
    between = float(throughput[kept - 1] + part * (throughput[kept] - throughput[kept - 1]))
    return max(most, between), False


def round_objectives(low: float, high: float) -> Iterator[float]:
    """1, 2, 5, 10, … times a power of ten, in seconds, inside the range."""
    for power in range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1):
        for digit in (1, 2, 5):
            objective = float(f"{digit}e{power}")
            if low <= objective <= high:
                yield objective
