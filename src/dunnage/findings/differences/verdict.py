"""What may be said of a difference: the verdict, and how many blocks would settle it.

Inferior, equivalent and superior part the line at the edges of the tolerance, and one of the three
is true, whatever it is. Each of the other two can be refuted, so one wrong claim at most can be
made of a comparison, and three claims need no more correction than one (partitioning: Goeman,
Solari, Stijnen 2010, Statistics in Medicine 29, 2117–2125). The tests are those of the interval
shown: who sees it beside the tolerance sees the verdict. An edge itself is missed, on either side,
by half of the interval's error rate.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from dunnage.analysis.estimate import CONFIDENCE, MINIMUM_BLOCKS, Paired
from dunnage.analysis.looks import effort
from dunnage.model.analysis import Estimate, Ground, Overload, Verdict
from dunnage.model.metrics import Better
from dunnage.model.value import Value


class Judgement(Value):
    """A verdict with its ground and, where it is open, the blocks that would settle it."""

    verdict: Verdict
    ground: Ground
    blocks_needed: int | None = None


@dataclass(frozen=True)
class Twin:
    """What two identical deployments tell of the instrument, under one condition."""

    n: int
    """Blocks in which both are there."""
    apart: float | None
    """By how much they differ for certain, as `apart` says it; None where that is not known."""
    overloads: tuple[Overload, ...] = ()
    """Twins that could not keep up with the load: then it cannot be known, however many blocks
    there are."""


def apart(difference: Estimate | None) -> float | None:
    """By how much two deployments differ at least: 0 where their interval holds zero.

    Else the ratio, minus one, of its end nearer to zero, whichever way; None without an interval.
    The far end would measure how little was seen of the twins, and not the instrument.
    """
    if difference is None or difference.low is None or difference.high is None:
        return None
    if difference.low > 0:
        return difference.low
    return 1 / (1 + difference.high) - 1 if difference.high < 0 else 0.0


@dataclass(frozen=True)
class Edges:
    """Where verdicts change, as ratios minus one, from the tolerance and what twins are apart.

    Where identical deployments differ, a claim of a difference must exceed that as well, and one of
    equivalence must leave room for it.
    """

    tolerance: float
    apart: float = 0.0

    @property
    def outer(self) -> tuple[float, float]:
        """A difference lies below the first or above the second."""
        return (
            (1 - self.tolerance) / (1 + self.apart) - 1,
            (1 + self.tolerance) * (1 + self.apart) - 1,
        )

    @property
    def inner(self) -> tuple[float, float]:
        """Equivalence lies between them; they have changed places where nothing can be."""
        return (
            (1 - self.tolerance) * (1 + self.apart) - 1,
            (1 + self.tolerance) / (1 + self.apart) - 1,
        )


def decide(
    pairs: Paired,
    difference: Estimate | None,
    tolerance: float,
    better: Better,
    twin: Twin | None,
    *,
    family: int = 1,
) -> Judgement:
    """Decide between equivalent, overhead, gain and inconclusive.

    `twin` is of the same metric, workload and level; None means that the study has no twin, and
    then nothing is claimed, because nobody knows by how much identical deployments differ. `family`
    counts the comparisons whose intervals hold together.
    """
    if difference is None or difference.low is None or difference.high is None:
        return withheld(Ground.TOO_FEW_BLOCKS, MINIMUM_BLOCKS)
    if twin is None:
        return withheld(Ground.NO_TWIN)
    if twin.overloads:
        return withheld(Ground.TWINS_OVERLOADED)
    if twin.apart is None:
        return withheld(Ground.TOO_FEW_TWINS, pairs.n + MINIMUM_BLOCKS - twin.n)
    low, high = difference.low, difference.high
    edges = Edges(tolerance, twin.apart)
    if edges.inner[0] < low and high < edges.inner[1]:
        return Judgement(verdict=Verdict.EQUIVALENT, ground=Ground.INSIDE)
    if low > edges.outer[1] or high < edges.outer[0]:
        worse = (low > edges.outer[1]) == (better is Better.LOWER)
        verdict = Verdict.OVERHEAD if worse else Verdict.GAIN
        return Judgement(verdict=verdict, ground=Ground.BEYOND)
    blocks = blocks_needed(pairs, edges, difference.level, family)
    ground = Ground.ACROSS
    if blocks is None:
        room = edges.inner[0] < edges.inner[1]
        ground = Ground.ON_AN_EDGE if room else Ground.TWINS_TOO_FAR
    return Judgement(verdict=Verdict.INCONCLUSIVE, ground=ground, blocks_needed=blocks)


def withheld(ground: Ground, blocks: int | None = None) -> Judgement:
    """Nothing is claimed, for a reason that the interval does not tell."""
    return Judgement(verdict=Verdict.INCONCLUSIVE, ground=ground, blocks_needed=blocks)


def blocks_needed(
    pairs: Paired, edges: Edges, level: float = CONFIDENCE, family: int = 1
) -> int | None:
    """Blocks in all that would settle this, if estimate and spread stay what they are.

    On logarithms, with s the standard deviation, r² the `effort` and h the distance from the
    estimate to the edge at which it becomes the verdict it heads for: n = r² (s/h)², at least 6,
    and one more than there are where those were not enough although the formula says so. None
    where the estimate lies on an edge, or between two that twins have moved apart.
    """
    if not pairs.logs:
        return MINIMUM_BLOCKS
    inner, outer = map(_logs, edges.inner), map(_logs, edges.outer)
    room = max(_inside(pairs.mean, *inner), _outside(pairs.mean, *outer))
    if room < _NOTHING:
        return None
    wanted = math.ceil(effort(level, family) * (pairs.sd / room) ** 2)
    return max(MINIMUM_BLOCKS, pairs.n + 1, wanted)


_NOTHING = 1e-9
"""Distances below this are rounding."""


def _inside(at: float, low: float, high: float) -> float:
    return min(at - low, high - at)


def _outside(at: float, low: float, high: float) -> float:
    return max(low - at, at - high)


def _logs(ratio: float) -> float:
    return math.log1p(ratio) if ratio > -1 else -math.inf
