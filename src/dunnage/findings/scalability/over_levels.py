"""Overhead over all levels of a workload: the published mean, and what holds below the knee."""

from __future__ import annotations

import math

import numpy as np

from dunnage.analysis import looks
from dunnage.analysis.gather import Gathered
from dunnage.analysis.intervals import Paired
from dunnage.findings.scalability.ladder import Ladder, complete, knee, ladders
from dunnage.model.plan import Plan
from dunnage.model.scalability import OverLevels

_EXPLORATORY = {
    "low": None,
    "high": None,
    "method": "mean of the log ratios over blocks; exploratory, no interval: which levels lie "
    "below the knee was found in the same runs",
}


def over_levels(
    plan: Plan, gathered: Gathered, reference: str, metrics: tuple[str, ...], look: int = 1
) -> tuple[OverLevels, ...]:
    """Every deployment against `reference`, where a workload has several closed levels.

    Published (cloud18): the mean over levels of one deployment over that of the other. Saturated
    levels have the largest latencies and so decide it; below the knee stands what a level costs on
    average where both still scale. That has no interval: which levels these are was found in the
    same runs, and an interval would take it as given.
    """
    return tuple(
        one
        for ladder in ladders(plan, gathered)
        for deployment in plan.deployments
        if deployment.name != reference
        for metric in metrics
        if (one := _of(ladder, gathered, reference, deployment.name, metric, look)) is not None
    )


def _of(
    ladder: Ladder, gathered: Gathered, reference: str, deployment: str, metric: str, look: int
) -> OverLevels | None:
    own = complete(gathered, deployment, ladder.settings, metric)
    other = complete(gathered, reference, ladder.settings, metric)
    blocks = sorted(own.keys() & other.keys())
    means = {block: float(np.exp(own[block]).mean()) for block in blocks}
    base = {block: float(np.exp(other[block]).mean()) for block in blocks}
    published = looks.difference(Paired(tuple(math.log(means[b] / base[b]) for b in blocks)), look)
    if published is None:
        return None
    below = _below_both(ladder, gathered, reference, deployment)
    places = [i for i, setting in enumerate(ladder.settings) if setting.level in below]
    costs = (float((own[b][places] - other[b][places]).mean()) for b in blocks if places)
    unsaturated = looks.difference(Paired(tuple(costs)), look)
    return OverLevels(
        deployment=deployment,
        baseline=reference,
        workload=ladder.workload,
        metric=metric,
        mean=math.fsum(means.values()) / len(means),
        published=published,
        below_knee=unsaturated.model_copy(update=_EXPLORATORY) if unsaturated else None,
        levels_below=tuple(ladder.settings[place].level for place in places),
    )


def _below_both(
    ladder: Ladder, gathered: Gathered, reference: str, deployment: str
) -> frozenset[str]:
    """Levels at or below the knee of both sides; none where a side has no knee."""
    knees = [
        knee(ladder, complete(gathered, name, ladder.settings, "throughput"))
        for name in (reference, deployment)
    ]
    sides = [set(found.below) if found is not None else set() for found in knees]
    return frozenset(set.intersection(*sides))
