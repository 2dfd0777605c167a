"""Whether order or time explains what is left when deployment and block are taken out."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import stats

MINIMUM_RUNS = 8
"""Fewer residuals say nothing of a trend."""
_SIGNIFICANT = 0.05


class Placed(NamedTuple):
    """One value with its place in the study."""

    position: int
    block: int
    deployment: str
    value: float


class Diagnosis(NamedTuple):
    """Rank correlation of residuals with position, and where they shift, if they do."""

    spearman: float | None
    p: float | None
    change_point: int | None


def diagnose(runs: Sequence[Placed]) -> Diagnosis:
    """Look for a trend and for one shift in the residuals of the log values."""
    usable = sorted(run for run in runs if run.value > 0)
    if len(usable) < MINIMUM_RUNS:
        return Diagnosis(None, None, None)
    left = residuals(usable)
    if float(np.ptp(left)) < 1e-12:
        return Diagnosis(None, None, None)
    trend = stats.spearmanr([run.position for run in usable], left)
    at = shift(left)
    return Diagnosis(
        spearman=float(trend.statistic),
        p=float(trend.pvalue),
        change_point=None if at is None else usable[at].position,
    )


def residuals(runs: Sequence[Placed]) -> NDArray[np.float64]:
    """Log values less the least-squares effects of deployment and block, which need no balance."""
    deployments = sorted({run.deployment for run in runs})
    blocks = sorted({run.block for run in runs})
    design = np.array(
        [
            [float(run.deployment == name) for name in deployments]
            + [float(run.block == block) for block in blocks[1:]]
            for run in runs
        ]
    )
    logs = np.log([run.value for run in runs])
    effects = np.linalg.lstsq(design, logs, rcond=None)[0]
    return np.asarray(logs - design @ effects, dtype=np.float64)


def shift(series: NDArray[np.float64]) -> int | None:
    """Index of the first value after the most likely shift; None where none is significant.

    Pettitt (1979): the largest |U| over all cuts, p ≈ 2 exp(−6 K² / (n³ + n²)).
    """
    n = len(series)
    if n < MINIMUM_RUNS:
        return None
    ranks = stats.rankdata(series)
    cuts = np.arange(1, n)
    u = np.abs(2 * np.cumsum(ranks)[:-1] - cuts * (n + 1))
    at = int(np.argmax(u))
    p = 2 * math.exp(-6 * float(u[at]) ** 2 / (n**3 + n**2))
    return at + 1 if p < _SIGNIFICANT else None
