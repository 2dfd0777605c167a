"""Whether a goal is reached, as far as turns tell."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence

from dunnage.analysis.intervals import CONFIDENCE, MINIMUM_BLOCKS, Paired

NOTE = (
    "Shown are geometric means of all turns. Behind one stands its interval "
    f"({100 * CONFIDENCE:.0f} %, by the logarithms of the turns). A goal is reached or missed "
    "where all of the interval says so. With a goal inside it, or with fewer than "
    f"{MINIMUM_BLOCKS} turns, that is not settled."
)
REACHED = "reached"
MISSED = "missed"
NOT_SETTLED = "not settled"
LEAST = MINIMUM_BLOCKS
"""Fewer turns settle nothing."""
Ends = tuple[float, float]
"""Of an interval."""


def mean(values: Sequence[float]) -> float:
    """The geometric mean of the values of turns. Raises StatisticsError where there are none, or
    one has no logarithm."""
    return statistics.geometric_mean(values)


def interval(values: Sequence[float]) -> Ends | None:
    """Of the geometric mean of the values of turns; None below `LEAST` of them.

    It is that of a study's differences over blocks, so that each further turn makes it narrower.
    Raises ValueError for a value without a logarithm.
    """
    ends = Paired(tuple(math.log(value) for value in values)).interval(CONFIDENCE)
    return None if ends is None else (math.exp(ends[0]), math.exp(ends[1]))


def verdict(ends: Ends | None, goal: float) -> str:
    """Of an interval, all of which is to be at most `goal`."""
    if ends is None:
        return NOT_SETTLED
    low, high = ends
    if high <= goal:
        return REACHED
    return MISSED if low > goal else NOT_SETTLED


def shown(value: float, ends: Ends | None, goal: float | None = None, decimals: int = 2) -> str:
    """A mean and its interval, with so many decimals; with more where fewer would put an end on
    the other side of the goal."""
    if ends is None:
        return f"{value:.{decimals}f}"
    true = verdict(ends, goal) if goal is not None else ""
    for digits in range(decimals, decimals + 6):
        rounded = (round(ends[0], digits), round(ends[1], digits))
        if goal is None or verdict(rounded, goal) == true:
            break
    return f"{value:.{digits}f} ({ends[0]:.{digits}f}–{ends[1]:.{digits}f})"
