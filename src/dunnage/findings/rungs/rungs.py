"""A study's deployments as a ladder: time per operation that each adds to the one before it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise

from dunnage.analysis.intervals import difference_over_blocks, mean_over_blocks
from dunnage.analysis.runs import Setting
from dunnage.findings.cpu.shares import UNIT
from dunnage.findings.differences.comparisons import MEAN_OF_TWINS, Comparisons
from dunnage.findings.parity.factors import factors
from dunnage.model.estimate import Estimate
from dunnage.model.plan import Plan
from dunnage.model.rungs import Rung, Rungs

CLOSED_ONLY = "service.mean"
"""Of an open load it depends on how near the rate is to what each deployment can take."""
ADDED = (CLOSED_ONLY, "cpu.database", "cpu.client")
"""Metrics that are time per operation, so that what deployments add can be summed."""
FEWEST = 3
"""Of two deployments the only step is the whole."""

Blocks = Mapping[int, float]
"""Block → mean over a deployment's runs."""


def rungs(plan: Plan, comparisons: Comparisons, reference: str) -> tuple[Rungs, ...]:
    """Every workload, level and metric with values of at least three deployments.

    Deployments come in the order of the plan, which is the study's, `reference` first.
    """
    closed = {run.level.name for run in plan.runs() if run.level.threads is not None}
    names = _in_order(plan, reference)
    return tuple(
        found
        for setting in comparisons.gathered.settings
        for metric in ADDED
        if metric != CLOSED_ONLY or setting.level in closed
        if (found := _of(plan, comparisons, names, setting, metric)) is not None
    )


def _in_order(plan: Plan, reference: str) -> list[str]:
    """All deployments but twins, the reference first."""
    names = [each.name for each in plan.deployments if each.twin_of is None]
    return sorted(names, key=lambda name: name != reference)


def _of(
    plan: Plan, comparisons: Comparisons, names: Sequence[str], setting: Setting, metric: str
) -> Rungs | None:
    twins = comparisons.known_twins
    known = {name: twins.means(name, setting, metric) for name in names}
    there = [name for name in names if known[name]]
    first = mean_over_blocks(known[there[0]], UNIT) if len(there) >= FEWEST else None
    if first is None:
        return None

    def step(baseline: str, deployment: str) -> Rung:
        folded = any(twins.alike(name, metric, setting) for name in (baseline, deployment))
        return Rung(
            baseline=baseline,
            deployment=deployment,
            factors=factors(plan.deployment(baseline), plan.deployment(deployment)),
            difference=_difference(known[deployment], known[baseline], folded=folded),
        )

    steps = tuple(step(*pair) for pair in pairwise(there))
    whole = step(there[0], there[-1])
    return Rungs(
        workload=setting.workload,
        level=setting.level,
        metric=metric,
        first=first,
        steps=steps,
        whole=whole,
        unexplained=_unexplained(steps, whole, [known[name] for name in there]),
        left_out=tuple(name for name in names if name not in there),
    )


def _difference(own: Blocks, other: Blocks, *, folded: bool) -> Estimate:
    found = difference_over_blocks(own, other, UNIT)
    if found is None:
        method = "no complete block"
        return Estimate(value=0.0, low=None, high=None, n=0, unit=UNIT, method=method)
    method = f"{found.method}, {MEAN_OF_TWINS}" if folded else found.method
    return found.model_copy(update={"method": method})


def _unexplained(steps: Sequence[Rung], whole: Rung, known: Sequence[Blocks]) -> float | None:
    """The whole less the sum of its steps; no rounding is left where all have the same blocks."""
    if not whole.difference.n:
        return None
    if all(found.keys() == known[0].keys() for found in known):
        return 0.0
    return whole.difference.value - math.fsum(step.difference.value for step in steps)
