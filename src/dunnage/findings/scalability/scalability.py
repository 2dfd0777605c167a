"""How deployments scale over the threads of a closed loop: points, fits, knee, objectives."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from dunnage.analysis.gather import Gathered
from dunnage.analysis.intervals import over_blocks
from dunnage.findings.scalability import law_bands as usl
from dunnage.findings.scalability import monotone
from dunnage.findings.scalability import quadratic as parabola
from dunnage.findings.scalability.ladder import KNEE_LEVELS, Ladder, complete, knee, ladders
from dunnage.model.metrics import OPERATIONS
from dunnage.model.plan import Plan
from dunnage.model.scalability import LevelPoint, QuadraticFit, Scalability, ScalabilityLaw

LATENCY = "service.p95"
FITTED = ("throughput", LATENCY, *(f"{operation}.{LATENCY}" for operation in OPERATIONS))
"""Metrics that get a parabola, where a deployment has them."""


def scalability(plan: Plan, gathered: Gathered) -> tuple[Scalability, ...]:
    """Of every deployment and workload with at least two closed levels."""
    return tuple(
        _of(ladder, deployment.name, gathered, objectives)
        for ladder in ladders(plan, gathered)
        for objectives in (_objectives(ladder, plan, gathered),)
        for deployment in plan.deployments
    )


def _of(
    ladder: Ladder, deployment: str, gathered: Gathered, objectives: Sequence[float]
) -> Scalability:
    points = _points(ladder, deployment, gathered)
    refused = []
    quadratic = _quadratics(ladder, deployment, gathered)
    if not quadratic:
        refused.append(_needs("The quadratic fit", parabola.MINIMUM_LEVELS, points))
    law = _law(points, deployment, ladder, gathered)
    if isinstance(law, str):
        refused.append(law)
    throughput = complete(gathered, deployment, ladder.settings, "throughput")
    bend = knee(ladder, throughput)
    if bend is None:
        refused.append(_needs("The knee", KNEE_LEVELS, points))
    wanted = objectives if len(ladder.threads) >= monotone.MINIMUM_LEVELS else ()
    latency = complete(gathered, deployment, ladder.settings, LATENCY)
    under = monotone.under_objectives(LATENCY, wanted, latency, throughput)
    if not under:
        refused.append(_needs("Throughput under an objective", monotone.MINIMUM_LEVELS, points))
    return Scalability(
        deployment=deployment,
        workload=ladder.workload,
        levels=points,
        quadratic=quadratic,
        law=None if isinstance(law, str) else law,
        knee=bend,
        under_objectives=under,
        refused=tuple(refused),
    )


def _points(ladder: Ladder, deployment: str, gathered: Gathered) -> tuple[LevelPoint, ...]:
    return tuple(
        LevelPoint(
            level=setting.level,
            threads=threads,
            throughput=over_blocks(gathered.logs(deployment, setting, "throughput"), "op/s"),
            latency=over_blocks(gathered.logs(deployment, setting, LATENCY), "s"),
        )
        for threads, setting in zip(ladder.threads, ladder.settings, strict=True)
    )


def _needs(what: str, levels: int, points: Sequence[LevelPoint]) -> str:
    measured = sum(point.throughput is not None for point in points)
    if measured >= levels:
        return f"{what} needs a block in which every level has a valid run: there is none."
    return f"{what} needs {levels} closed levels with a valid run: there are {measured}."


def _quadratics(ladder: Ladder, deployment: str, gathered: Gathered) -> tuple[QuadraticFit, ...]:
    found = []
    for metric in FITTED:
        runs = [
            (threads, run.values[metric])
            for threads, setting in zip(ladder.threads, ladder.settings, strict=True)
            for run in gathered.valid(deployment, setting)
            if metric in run.values
        ]
        fitted = parabola.quadratic(metric, runs) if runs else None
        if fitted is not None:
            found.append(fitted)
    return tuple(found)


def _law(
    points: Sequence[LevelPoint], deployment: str, ladder: Ladder, gathered: Gathered
) -> ScalabilityLaw | str:
    known = [
        (point.threads, gathered.logs(deployment, setting, "throughput"))
        for point, setting in zip(points, ladder.settings, strict=True)
        if point.throughput is not None
    ]
    if len(known) < usl.MINIMUM_LEVELS:
        return _needs("The Universal Scalability Law", usl.MINIMUM_LEVELS, points)
    blocks = sorted(set().union(*(logs for _, logs in known)))
    matrix = np.array([[logs.get(block, math.nan) for _, logs in known] for block in blocks])
    return usl.law([threads for threads, _ in known], matrix) or (
        "The Universal Scalability Law does not fit: throughput falls from the lightest level on."
    )


def _objectives(ladder: Ladder, plan: Plan, gathered: Gathered) -> tuple[float, ...]:
    """Round latencies inside the range that the workload's deployments covered together."""
    seen = [
        estimate.value
        for deployment in plan.deployments
        for setting in ladder.settings
        if (estimate := over_blocks(gathered.logs(deployment.name, setting, LATENCY), "s"))
    ]
    return tuple(monotone.round_objectives(min(seen), max(seen))) if seen else ()
