"""Ways that are measured beside each other, block by block, and what one takes beyond another.

The block is the unit: in each, every way is measured once, and ways are only compared inside it. In
a whole number of Williams squares no way has a better place, or a better predecessor, than another.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from dunnage.analysis.intervals import difference_over_blocks, mean_over_blocks
from dunnage.model.estimate import Estimate
from dunnage.study.williams import order, period

Measure = Callable[[], float]
"""Measures one way once, in microseconds."""
Tell = Callable[[str, object], None]
"""pytest's `record_property`: what is recorded as `seen` stands in `docs/proofs.md`."""
_UNIT = "µs"


@dataclass(frozen=True)
class Blocks:
    """What each way took in each block, in microseconds."""

    taken: Mapping[str, Mapping[int, float]]

    def mean(self, way: str) -> Estimate:
        """Of all blocks."""
        return _there(mean_over_blocks(self.taken[way], _UNIT))

    def beyond(self, way: str, other: str) -> Estimate:
        """What a way takes beyond another."""
        return _there(difference_over_blocks(self.taken[way], self.taken[other], _UNIT))

    def weighted(self, weights: Mapping[str, float]) -> Estimate:
        """A weighted sum of ways, made inside each block."""
        first, *_ = weights
        sums = {
            block: math.fsum(weight * self.taken[way][block] for way, weight in weights.items())
            for block in self.taken[first]
        }
        return _there(mean_over_blocks(sums, _UNIT))


def measured(ways: Mapping[str, Measure], blocks: int, words: str) -> Blocks:
    """Measure every way in each block, in a balanced order that `words` decide.

    Each is tried once before, so that no first block has to warm anything up.
    """
    assert blocks % period(len(ways)) == 0, f"{blocks} blocks are no whole number of squares"
    for measure in ways.values():
        measure()
    taken: dict[str, dict[int, float]] = {way: {} for way in ways}
    for block in range(1, blocks + 1):
        for way in order(list(ways), block, words):
            taken[way][block] = ways[way]()
    return Blocks(taken)


def ends(estimate: Estimate) -> tuple[float, float]:
    """Both ends of an interval, which there must be."""
    assert estimate.low is not None
    assert estimate.high is not None
    return estimate.low, estimate.high


def reach(estimate: Estimate) -> float:
    """How far the interval goes from zero, whichever way."""
    return max(map(abs, ends(estimate)))


def said(estimate: Estimate, sign: str = "+") -> str:
    """`+0.84 µs (+0.71 … +0.97, 95 %, n = 24)`."""
    low, high = ends(estimate)
    inside = f"{low:{sign}.2f} … {high:{sign}.2f}, {estimate.level:.0%}, n = {estimate.n}"
    return f"{estimate.value:{sign}.2f} {estimate.unit} ({inside})"


def beside(estimate: Estimate, low: float, high: float) -> str:
    """Where an interval is: `less than expected, +0.3 to 1.5 µs`."""
    least, most = ends(estimate)
    expected = f"{low:+g} to {high:g} {estimate.unit}"
    if most < low:
        return f"less than expected, {expected}"
    if least > high:
        return f"more than expected, {expected}"
    return f"overlaps what is expected, {expected}"


def _there(estimate: Estimate | None) -> Estimate:
    assert estimate is not None
    return estimate
