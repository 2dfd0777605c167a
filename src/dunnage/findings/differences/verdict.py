"""What may be said of a difference: one rule, for a question of a study and between two results.

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
from typing import Self

from dunnage.model.analysis import Ground, Verdict
from dunnage.model.estimate import Estimate
from dunnage.model.metrics import Better
from dunnage.model.value import Value


class Judgement(Value):
    """A verdict with its ground and, where it is open, the blocks that would settle it."""

    verdict: Verdict
    ground: Ground
    blocks_needed: int | None = None


@dataclass(frozen=True)
class Edges:
    """Where verdicts change, as ratios minus one: from the tolerance and what twins tell."""

    inner: tuple[float, float]
    """Equivalence lies between them; they have changed places where nothing can be."""
    outer: tuple[float, float]
    """A difference lies below the first or above the second."""

    @classmethod
    def in_study(cls, tolerance: float, apart: float = 0.0) -> Self:
        """Edges where twins stand in the same blocks, and are `apart` by so much for certain.

        Then a claim of a difference must exceed that as well, and one of equivalence must leave
        room for it.
        """
        low, high, veto = 1 - tolerance, 1 + tolerance, 1 + apart
        return cls(inner=(low * veto - 1, high / veto - 1), outer=(low / veto - 1, high * veto - 1))

    @classmethod
    def between_results(cls, tolerance: float, bound: float) -> Self:
        """Edges where twins of both results may differ by the `bound` at most.

        Between two days nothing else tells what a machine does to identical work, so that a claim
        of a difference must exceed it, and nothing is equivalent where the tolerance does not.
        """
        edge = max(tolerance, bound)
        room = tolerance if bound <= tolerance else -math.inf
        return cls(inner=(-room, room), outer=(-edge, edge))


def decide(difference: Estimate | None, edges: Edges | Ground, better: Better) -> Judgement:
    """Decide between equivalent, overhead, gain and inconclusive.

    A ground stands in place of `edges` where twins tell none, as nobody knows then by how much
    identical deployments differ, and where they are not those of the study: nothing is claimed.
    """
    if difference is None or difference.low is None or difference.high is None:
        return inconclusive(Ground.TOO_FEW_BLOCKS)
    if isinstance(edges, Ground):
        return inconclusive(edges)
    low, high = difference.low, difference.high
    if edges.inner[0] <= low and high <= edges.inner[1]:
        return Judgement(verdict=Verdict.EQUIVALENT, ground=Ground.INSIDE)
    if low > edges.outer[1] or high < edges.outer[0]:
        worse = (low > edges.outer[1]) == (better is Better.LOWER)
        verdict = Verdict.OVERHEAD if worse else Verdict.GAIN
        return Judgement(verdict=verdict, ground=Ground.BEYOND)
    return inconclusive(Ground.ACROSS)


def inconclusive(ground: Ground, blocks: int | None = None) -> Judgement:
    """Nothing is claimed."""
    return Judgement(verdict=Verdict.INCONCLUSIVE, ground=ground, blocks_needed=blocks)
