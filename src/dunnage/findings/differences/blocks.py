"""How many blocks would settle what one study says of a difference."""

from __future__ import annotations

import math

from dunnage.analysis.intervals import CONFIDENCE, MINIMUM_BLOCKS, Paired
from dunnage.analysis.looks import effort
from dunnage.findings.differences.twins import Twin, edges_of
from dunnage.findings.differences.verdict import Edges, Judgement, decide, inconclusive
from dunnage.model.analysis import Ground
from dunnage.model.estimate import Estimate
from dunnage.model.metrics import Better

_NOTHING = 1e-9
"""Distances below this are rounding."""


def settle(
    pairs: Paired,
    difference: Estimate | None,
    tolerance: float,
    better: Better,
    twin: Twin | None,
    *,
    family: int = 1,
) -> Judgement:
    """The verdict on a difference and, where it is open, what would settle it.

    `twin` is of the same metric, workload and level; None means that the study has no twin.
    `family` counts the comparisons whose intervals hold together.
    """
    edges = edges_of(twin, tolerance)
    judgement = decide(difference, edges, better)
    if judgement.ground is Ground.TOO_FEW_BLOCKS:
        return inconclusive(judgement.ground, MINIMUM_BLOCKS)
    if twin is not None and judgement.ground is Ground.TOO_FEW_TWINS:
        return inconclusive(judgement.ground, pairs.n + MINIMUM_BLOCKS - twin.n)
    if difference is None or isinstance(edges, Ground) or judgement.ground is not Ground.ACROSS:
        return judgement
    blocks = blocks_needed(pairs, edges, difference.level, family)
    if blocks is not None:
        return inconclusive(Ground.ACROSS, blocks)
    room = edges.inner[0] < edges.inner[1]
    return inconclusive(Ground.ON_AN_EDGE if room else Ground.TWINS_TOO_FAR)


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
    low, high = map(_log, edges.inner)
    below, above = map(_log, edges.outer)
    inside = min(pairs.mean - low, high - pairs.mean)
    room = max(inside, below - pairs.mean, pairs.mean - above)
    if room < _NOTHING:
        return None
    wanted = math.ceil(effort(level, family) * (pairs.sd / room) ** 2)
    return max(MINIMUM_BLOCKS, pairs.n + 1, wanted)


def _log(ratio: float) -> float:
    return math.log1p(ratio) if ratio > -1 else -math.inf
