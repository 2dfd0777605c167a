"""Whether a goal is reached, as far as turns tell."""

from __future__ import annotations

import math
from collections.abc import Sequence

from dunnage.analysis.intervals import CONFIDENCE, MINIMUM_BLOCKS, Paired

NOTE = (
    "A goal is reached or missed where all of the interval of the mean says so "
    f"({100 * CONFIDENCE:.0f} %, of the logarithms of all turns). It stands behind the verdict. A "
    f"goal inside it is not settled, and none is with fewer than {MINIMUM_BLOCKS} turns."
)
LEAST = MINIMUM_BLOCKS
"""Fewer turns settle nothing."""
Ends = tuple[float, float]
"""Of an interval."""


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
        return "not settled"
    low, high = ends
    if high <= goal:
        return "reached"
    return "missed" if low > goal else "not settled"
