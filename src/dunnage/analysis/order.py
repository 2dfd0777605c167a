"""Whether order or time explains what is left when deployment and block are taken out."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from dunnage.analysis.distributions import f_probability, t_probability

Level = TypeVar("Level", str, int)
MINIMUM_RUNS = 8
"""Fewer residuals say nothing of a trend."""
_SIGNIFICANT = 0.05
_NOTHING = 1e-9
"""Residuals that differ by less are rounding."""


class Placed(NamedTuple):
    """One value with its place in the study."""

    position: int
    block: int
    deployment: str
    value: float
    place: int = 0
    """Of its stay in the block, from 0."""
    after: str = ""
    """The deployment whose stay came right before; empty for the first stay of the study."""


class Diagnosis(NamedTuple):
    """Rank correlation of residuals with position, and where they shift, if they do."""

    spearman: float | None
    p: float | None
    change_point: int | None
    place: float | None
    """Probability of differences between places as large as these, if places do nothing."""
    predecessor: float | None
    """The same of what came right before."""


def diagnose(runs: Sequence[Placed], *, at_once: bool = False) -> Diagnosis:
    """Look for a trend inside blocks, which pairs do not cancel, and for one shift over all.

    The trend is the rank correlation of what deployment and block leave of the log values with
    what they leave of the position (raw positions would mostly count blocks, whose effect is gone
    already). The shift is looked for with only the deployment taken out: pairs cancel it, but a
    reader wants to know that the machine changed half-way. Place and predecessor are F tests of
    what they explain beside deployment, block and each other. Where all of a block are driven `at
    once`, there is no trend inside blocks: a position in it is no time.
    """
    usable = sorted(run for run in runs if run.value > 0)
    if len(usable) < MINIMUM_RUNS:
        return Diagnosis(None, None, None, None, None)
    logs = np.log([run.value for run in usable])
    effects = design(usable, blocks=True)
    positions = np.array([float(run.position) for run in usable])
    spearman, p = (None, None) if at_once else _trend(effects, logs, positions)
    flat = residuals(design(usable, blocks=False), logs)
    at = shift(flat) if float(np.ptp(flat)) > _NOTHING else None
    places = _indicators([str(run.place) for run in usable])[:, 1:]
    before = _indicators([run.after for run in usable])[:, 1:]
    return Diagnosis(
        spearman,
        p,
        None if at is None else usable[at].position,
        _explained(np.hstack([effects, before]), places, logs),
        _explained(np.hstack([effects, places]), before, logs),
    )


def _indicators(values: Sequence[Level]) -> NDArray[np.float64]:
    """A column for each distinct value, in order: 1 where it is."""
    distinct = sorted(set(values))
    return np.array([[float(value == each) for each in distinct] for value in values])


def _explained(
    design: NDArray[np.float64], further: NDArray[np.float64], logs: NDArray[np.float64]
) -> float | None:
    """The p of an F test of what further columns explain; None where they cannot be told apart."""
    both = np.hstack([design, further])
    rank = int(np.linalg.matrix_rank(both))
    above, below = rank - int(np.linalg.matrix_rank(design)), len(logs) - rank
    if above < 1 or below < 1:
        return None
    without = float((residuals(design, logs) ** 2).sum())
    with_ = float((residuals(both, logs) ** 2).sum())
    if without < _NOTHING**2:
        return None
    if with_ < _NOTHING**2:
        return 0.0
    return f_probability((without - with_) / above / (with_ / below), above, below)


def residuals(design: NDArray[np.float64], series: NDArray[np.float64]) -> NDArray[np.float64]:
    """What least squares leave of a series; the design need not be balanced."""
    effects = np.linalg.lstsq(design, series, rcond=None)[0]
    return np.asarray(series - design @ effects, dtype=np.float64)


def design(runs: Sequence[Placed], *, blocks: bool) -> NDArray[np.float64]:
    """Indicators of deployment and, if asked for, of all blocks but the first."""
    deployments = _indicators([run.deployment for run in runs])
    rest = _indicators([run.block for run in runs])[:, 1:]
    return np.hstack([deployments, rest]) if blocks else deployments


def _trend(
    design: NDArray[np.float64], logs: NDArray[np.float64], positions: NDArray[np.float64]
) -> tuple[float | None, float | None]:
    """Spearman's partial correlation and its p by Student's t, less the effects' freedom."""
    left, place = residuals(design, logs), residuals(design, positions)
    freedom = len(logs) - int(np.linalg.matrix_rank(design)) - 1
    if freedom < 1 or min(float(np.ptp(left)), float(np.ptp(place))) < _NOTHING:
        return None, None
    found = float(np.corrcoef(_ranks(left), _ranks(place))[0, 1])
    if abs(found) >= 1:
        return found, 0.0
    t = found * math.sqrt(freedom / (1 - found**2))
    return found, 2 * t_probability(-abs(t), freedom)


def shift(series: NDArray[np.float64]) -> int | None:
    """Index of the first value after the most likely shift; None where none is significant.

    Pettitt (1979): the largest |U| over all cuts, p ≈ 2 exp(−6 K² / (n³ + n²)).
    """
    n = len(series)
    if n < MINIMUM_RUNS:
        return None
    ranks = _ranks(series)
    cuts = np.arange(1, n)
    u = np.abs(2 * np.cumsum(ranks)[:-1] - cuts * (n + 1))
    at = int(np.argmax(u))
    p = 2 * math.exp(-6 * float(u[at]) ** 2 / (n**3 + n**2))
    return at + 1 if p < _SIGNIFICANT else None


def _ranks(series: NDArray[np.float64]) -> NDArray[np.float64]:
    """Ranks from 1; equal values share the mean of theirs."""
    _, place, counts = np.unique(series, return_inverse=True, return_counts=True)
    ranks: NDArray[np.float64] = np.cumsum(counts) - (counts - 1) / 2
    return ranks[place]
