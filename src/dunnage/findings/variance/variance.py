"""How much of the variance of log values lies between blocks, between stays and between runs.

Nested random effects by analysis of variance (method of moments; Searle, Casella, McCulloch 1992):
a run's log value is its deployment's mean + block + stay + run. A stay's own variance can be told
from a deployment's reaction to a block only by two stays of the same thing in one block: by twins.
A run's can be told from its stay's only by `repeat`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dunnage.analysis.distributions import chi_squared_quantile, f_quantile
from dunnage.analysis.gather import Gathered
from dunnage.analysis.intervals import CONFIDENCE, MINIMUM_BLOCKS
from dunnage.analysis.runs import Setting
from dunnage.model.estimate import Estimate
from dunnage.model.plan import Plan
from dunnage.model.variance import Inseparable, VariancePart, VarianceSplit

Cells = Mapping[tuple[int, str], Sequence[float]]
"""(block, deployment) → log values of the runs of its one stay."""

BLOCK, STAY, RUN = "block", "stay", "run"
STAY_AND_RUN, STAY_AND_REACTION, WITHIN = "stay and run", "stay and reaction", "all within"


@dataclass(frozen=True)
class _Stratum:
    """A mean square with its degrees of freedom, and runs in each unit that it is between."""

    part: str
    square: float
    freedom: int
    runs: int


def splits(plan: Plan, gathered: Gathered, metrics: Sequence[str]) -> tuple[VarianceSplit, ...]:
    """Parts of the variance of every metric that has values, at every setting."""
    copies = [deployment for deployment in plan.deployments if deployment.twin_of]
    originals = [copy.twin_of for copy in copies[:1]]
    twins = [name for name in (*originals, *(copy.name for copy in copies)) if name]
    return tuple(
        split(metric, setting, cells, twins, repeats(plan))
        for metric in metrics
        for setting in gathered.settings
        if (cells := gathered.cells(setting, metric))
    )


def repeats(plan: Plan) -> int:
    """How often a stay makes each of its runs."""
    return max((run.repeat for run in plan.runs()), default=1)


def split(
    metric: str, setting: Setting, cells: Cells, twins: Sequence[str], repeat: int
) -> VarianceSplit:
    """Tell apart what the design allows; what it does not has its reason in `absent`.

    `twins` are the deployments that are the same thing, empty without a twin. Only blocks in which
    every deployment used has all `repeat` runs in one stay take part: balanced data need no model.
    """
    deployments = tuple(twins) or tuple(sorted({deployment for _, deployment in cells}))
    complete = [
        block
        for block in sorted({block for block, _ in cells})
        if all(len(cells.get((block, deployment), ())) == repeat for deployment in deployments)
    ]
    absent: list[Inseparable] = []
    parts: tuple[VariancePart, ...] = ()
    if len(deployments) < 2:
        absent.append(Inseparable.ONE_STAY)
    elif len(complete) < MINIMUM_BLOCKS:
        absent.append(Inseparable.TOO_FEW_BLOCKS)
    else:
        if repeat < 2:
            absent.append(Inseparable.NO_REPEAT)
        if not twins:
            absent.append(Inseparable.NO_TWIN)
        logs = np.array([[cells[block, name] for name in deployments] for block in complete])
        parts = _parts(_strata(logs, twins=bool(twins)), len(complete))
    return VarianceSplit(
        metric=metric,
        workload=setting.workload,
        level=setting.level,
        parts=parts,
        deployments=deployments,
        blocks=len(complete),
        absent=tuple(absent),
    )


def _strata(logs: NDArray[np.float64], *, twins: bool) -> list[_Stratum]:
    """Mean squares of logs[block, deployment, run], widest life time first."""
    blocks, stays, runs = logs.shape
    cell, block = logs.mean(axis=2), logs.mean(axis=(1, 2))
    between = stays * runs * float(((block - block.mean()) ** 2).sum()) / (blocks - 1)
    if twins:
        left, freedom = cell - block[:, None], blocks * (stays - 1)
    else:
        left = cell - block[:, None] - cell.mean(axis=0)[None, :] + cell.mean()
        freedom = (blocks - 1) * (stays - 1)
    inside = runs * float((left**2).sum()) / freedom
    if runs > 1:
        middle = STAY if twins else STAY_AND_REACTION
    else:
        middle = STAY_AND_RUN if twins else WITHIN
    found = [
        _Stratum(BLOCK, between, blocks - 1, stays * runs),
        _Stratum(middle, inside, freedom, runs),
    ]
    if runs > 1:
        freedom = blocks * stays * (runs - 1)
        square = float(((logs - cell[:, :, None]) ** 2).sum()) / freedom
        found.append(_Stratum(RUN, square, freedom, 1))
    return found


def _parts(strata: Sequence[_Stratum], blocks: int) -> tuple[VariancePart, ...]:
    lower = (*strata[1:], None)
    raw = [_component(stratum, below) for stratum, below in zip(strata, lower, strict=True)]
    total = math.fsum(max(0.0, value) for value, _, _ in raw)
    return tuple(
        VariancePart(
            part=stratum.part,
            variance=Estimate(
                value=max(0.0, value),
                low=low,
                high=high,
                n=blocks,
                unit="log²",
                method="analysis of variance, interval by Williams and Tukey",
            ),
            spread=math.expm1(math.sqrt(max(0.0, value))),
            share=max(0.0, value) / total if total > 0 else 0.0,
            truncated=value < 0,
        )
        for stratum, (value, low, high) in zip(strata, raw, strict=True)
    )


def _component(stratum: _Stratum, below: _Stratum | None) -> tuple[float, float, float]:
    """(MS − MS below)/runs with its interval; the lowest stratum's is the exact χ² one.

    Williams (1962) and Tukey: freedom · (MS − F·MS below) / (runs · χ²), F and χ² at the same tail.
    """
    square = 0.0 if below is None else below.square

    def end(tail: float) -> float:
        f = 0.0 if below is None else f_quantile(tail, stratum.freedom, below.freedom)
        chi = chi_squared_quantile(tail, stratum.freedom)
        return max(0.0, stratum.freedom * (stratum.square - f * square) / (stratum.runs * chi))

    alpha = (1 - CONFIDENCE) / 2
    return (stratum.square - square) / stratum.runs, end(1 - alpha), end(alpha)
