"""Two results of the same study side by side: does the overhead of a deployment differ?"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence

from dunnage.analysis.distributions import t_quantile
from dunnage.analysis.estimate import (
    CONFIDENCE,
    MINIMUM_BLOCKS,
    Paired,
    block_logs,
    sidak,
)
from dunnage.analysis.gather import counts
from dunnage.model.analysis import Analysis, Comparison, Estimate, RunSummary
from dunnage.model.check import Status
from dunnage.model.metrics import HEADLINE, METRICS
from dunnage.model.value import Value


class Shift(Value):
    """How an overhead differs between two results: ratio of the two ratios, minus one."""

    deployment: str
    baseline: str
    metric: str
    workload: str
    level: str
    estimate: Estimate

    @property
    def differs(self) -> bool:
        """Whether the simultaneous interval leaves out zero."""
        return self.estimate.without_zero


def between(a: Analysis, b: Analysis, confidence: float = CONFIDENCE) -> tuple[Shift, ...]:
    """Compare the headline overheads that both results have, `b` against `a`.

    The blocks of two results are not paired, so intervals are Welch's on the log ratios, made
    simultaneous over all comparisons (Šidák) at `confidence`. Overheads are compared rather than
    raw values: two days differ in what the machine does, and that is not a difference of the
    deployments. A latency of a side that was over capacity in either result is left out.
    """
    both = {_key(c.model_dump()) for c in b.comparisons}
    over = over_capacity(a) | over_capacity(b)
    wanted = [
        c
        for c in a.comparisons
        if c.metric in HEADLINE and _key(c.model_dump()) in both and not _lost(c, over)
    ]
    shifts = []
    for c in wanted:
        sides = [
            Paired.of(
                _logs(runs, c.deployment, c.workload, c.level, c.metric),
                _logs(runs, c.baseline, c.workload, c.level, c.metric),
            )
            for runs in (a.runs, b.runs)
        ]
        if all(side.logs for side in sides):
            shifts.append(
                Shift(
                    deployment=c.deployment,
                    baseline=c.baseline,
                    metric=c.metric,
                    workload=c.workload,
                    level=c.level,
                    estimate=welch(
                        sides[0],
                        sides[1],
                        family=len(wanted),
                        confidence=confidence,
                        what="log ratios",
                    ),
                )
            )
    return tuple(shifts)


Condition = tuple[str, str, str]
"""Deployment, workload and level."""


def over_capacity(analysis: Analysis) -> frozenset[Condition]:
    """Where a deployment could not keep up with its open load: latencies say nothing there."""
    return frozenset(
        (run.deployment, run.workload, run.level)
        for run in analysis.runs
        if run.status == Status.VALID and run.over_capacity
    )


def _lost(comparison: Comparison, over: Collection[Condition]) -> bool:
    """Whether it is of a latency and a side could not keep up."""
    return METRICS[comparison.metric].latency and any(
        (side, comparison.workload, comparison.level) in over
        for side in (comparison.deployment, comparison.baseline)
    )


def _key(comparison: dict[str, object]) -> tuple[object, ...]:
    return tuple(
        comparison[name] for name in ("deployment", "baseline", "metric", "workload", "level")
    )


def _logs(
    runs: Sequence[RunSummary], deployment: str, workload: str, level: str, metric: str
) -> dict[int, float]:
    return block_logs(
        (run.block, run.values[metric])
        for run in runs
        if run.status == Status.VALID
        and (run.deployment, run.workload, run.level) == (deployment, workload, level)
        and counts(run, metric)
    )


def welch(
    a: Paired, b: Paired, *, family: int, confidence: float = CONFIDENCE, what: str
) -> Estimate:
    """Ratio of `b` over `a` minus one; `what` names the logs that were compared.

    Welch (1947): unequal variances, freedom by Satterthwaite rounded down. No interval below six
    blocks on either side.
    """
    mean = b.mean - a.mean
    half: float | None = None
    if min(a.n, b.n) >= MINIMUM_BLOCKS:
        parts = a.sd**2 / a.n, b.sd**2 / b.n
        total = sum(parts)
        freedom = (
            total**2 / (parts[0] ** 2 / (a.n - 1) + parts[1] ** 2 / (b.n - 1)) if total > 0 else 1
        )
        level = sidak(family, confidence)
        half = t_quantile((1 + level) / 2, max(1, int(freedom))) * math.sqrt(total)
    return Estimate(
        value=math.expm1(mean),
        low=None if half is None else math.expm1(mean - half),
        high=None if half is None else math.expm1(mean + half),
        n=min(a.n, b.n),
        unit="share",
        method=f"Welch's t on {what}, simultaneous over {family} comparisons (Šidák)"
        if family > 1
        else f"Welch's t on {what}",
        level=confidence,
    )
