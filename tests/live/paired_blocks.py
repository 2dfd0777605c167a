"""Ways that are measured beside each other, block by block, and what one takes beyond another.

The block is the unit: in each, every way is measured once, and ways are only compared inside it. In
a whole number of Williams squares no way has a better place, or a better predecessor, than another.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from dunnage.analysis.distributions import t_quantile
from dunnage.analysis.intervals import difference_over_blocks, mean_over_blocks
from dunnage.model.estimate import Estimate
from dunnage.study.williams import order, period

Measure = Callable[[], float]
"""Measures one way once, in microseconds."""
Tell = Callable[[str, object], None]
"""pytest's `record_property`: what is recorded as `seen` stands in `docs/proofs.md`."""
MOST = 4
"""How many times the blocks that are asked for there are at most."""
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

    def ratio(self, way: str, other: str, beyond: str, level: float) -> tuple[float, float]:
        """Interval of what one way takes beyond a third, over what another takes beyond it.

        Fieller (1954), "Some Problems in Interval Estimation", Journal of the Royal Statistical
        Society B 16, 175-185, of values that are paired in blocks. Both must be told from zero.
        """
        least = self.taken[beyond]
        above, below = (
            np.array([self.taken[each][block] - least[block] for block in least])
            for each in (way, other)
        )
        spread = np.cov(above, below) / len(above)
        most = t_quantile((1 + level) / 2, len(above) - 1) ** 2
        a = below.mean() ** 2 - most * spread[1, 1]
        b = above.mean() * below.mean() - most * spread[0, 1]
        c = above.mean() ** 2 - most * spread[0, 0]
        assert a > 0, f"{other} is not told from {beyond}: the ratio may be anything"
        root = math.sqrt(b**2 - a * c)
        return (b - root) / a, (b + root) / a


def measured(
    ways: Mapping[str, Measure], blocks: int, words: str, within: float = math.inf
) -> Blocks:
    """Measure every way in each block, in a balanced order that `words` decide.

    Each is tried once before, so that no first block has to warm anything up. After that many
    `blocks` there are more of them, whole squares, while an interval of what a way takes beyond the
    first reaches further than `within` microseconds to each side; but never more than `MOST` times
    as many. Only widths decide on that, and never what was found.
    """
    square, (first, *others) = period(len(ways)), ways
    assert blocks % square == 0, f"{blocks} blocks are no whole number of squares"
    for measure in ways.values():
        measure()
    taken: dict[str, dict[int, float]] = {way: {} for way in ways}
    found = Blocks(taken)
    for block in range(1, MOST * blocks + 1):
        for way in order(list(ways), block, words):
            taken[way][block] = ways[way]()
        if block >= blocks and block % square == 0 and _widest(found, first, others) <= within:
            break
    return found


def _widest(found: Blocks, first: str, others: Iterable[str]) -> float:
    """Half of the widest interval, in microseconds."""
    found_ends = [ends(found.beyond(way, first)) for way in others]
    return max(((high - low) / 2 for low, high in found_ends), default=0.0)


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
