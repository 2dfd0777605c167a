"""Overhead over all levels of a workload: the published mean, and what holds below the knee."""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np

from dunnage.analysis import looks
from dunnage.analysis.estimate import Paired
from dunnage.analysis.gather import Gathered
from dunnage.findings.scalability.ladder import Ladder, complete, knee, ladders
from dunnage.model.estimate import Estimate
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
    found = []
    for ladder in ladders(plan, gathered):
        for deployment in plan.deployments:
            if deployment.name == reference:
                continue
            for metric in metrics:
                one = _of(ladder, gathered, reference, deployment.name, metric, look)
                if one is not None:
                    found.append(one)
    return tuple(found)


def _of(
    ladder: Ladder, gathered: Gathered, reference: str, deployment: str, metric: str, look: int
) -> OverLevels | None:
    own = complete(gathered, deployment, ladder.settings, metric)
    other = complete(gathered, reference, ladder.settings, metric)
    blocks = sorted(own.keys() & other.keys())
    means = {block: float(np.exp(own[block]).mean()) for block in blocks}
    base = {block: float(np.exp(other[block]).mean()) for block in blocks}
    published = _difference((math.log(means[b] / base[b]) for b in blocks), look)
    if published is None:
        return None
    below = _below_both(ladder, gathered, reference, deployment)
    places = [i for i, setting in enumerate(ladder.settings) if setting.level in below]
    unsaturated = (
        _difference((float((own[b][places] - other[b][places]).mean()) for b in blocks), look)
        if places
        else None
    )
    return OverLevels(
        deployment=deployment,
        baseline=reference,
        workload=ladder.workload,
        metric=metric,
        mean=math.fsum(means.values()) / len(means),
        baseline_mean=math.fsum(base.values()) / len(base),
        published=published,
        below_knee=unsaturated.model_copy(update=_EXPLORATORY) if unsaturated else None,
        levels_below=tuple(ladder.settings[place].level for place in places),
    )


def _difference(logs: Iterable[float], look: int) -> Estimate | None:
    return looks.difference(Paired(tuple(logs)), look)


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
