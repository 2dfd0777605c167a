"""The Universal Scalability Law, fitted to the throughput of a closed loop.

C(N) = λN / (1 + σ(N−1) + κN(N−1)): Gunther, "A simple capacity model of massively parallel
transaction systems" (1993); "Guerrilla Capacity Planning" (2007).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import special
from scipy.optimize import nnls

from dunnage.analysis.estimate import CONFIDENCE, MINIMUM_BLOCKS, t_quantile
from dunnage.model.estimate import Estimate
from dunnage.model.scalability import FittedPoint, ScalabilityLaw

MINIMUM_LEVELS = 6
"""Below that, three parameters fit whatever was measured."""
_RESAMPLES = 2000
_SEED = 19_930
_STEPS = 50
_POINTS = 49
_BEYOND_LINEAR = 1.05

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Law:
    """One fit. All parameters are at least 0, and σ at most 1."""

    rate: float
    contention: float
    coherency: float

    def throughput(self, threads: float) -> float:
        """Operations per second at this many threads."""
        pairs = threads * (threads - 1)
        return self.rate * threads / (1 + self.contention * (threads - 1) + self.coherency * pairs)

    @property
    def peak(self) -> float:
        """N* = √((1−σ)/κ), at least 1; infinite where κ is 0."""
        if self.coherency == 0:
            return math.inf
        return max(1.0, math.sqrt((1 - self.contention) / self.coherency))

    @property
    def highest(self) -> float:
        """Throughput at N*, or what it tends to without one."""
        if self.coherency > 0:
            return self.throughput(self.peak)
        return self.rate / self.contention if self.contention > 0 else math.inf


def fit(threads: Floats, logs: Floats, weights: Floats) -> Law | None:
    """Non-linear least squares of the logs of throughput; None where no finite λ fits.

    N/C(N) = a + bN + cN(N−1) with λ = 1/(a+b), σ = b/(a+b), κ = c/(a+b): for a, b, c ≥ 0 exactly
    the laws with 0 ≤ σ ≤ 1 and κ ≥ 0. Gauss–Newton on the logs, each step by non-negative least
    squares (Lawson and Hanson), so that a parameter that vanishes is 0 and not nearly 0.
    """
    root = np.sqrt(weights)
    design = np.column_stack((np.ones_like(threads), threads, threads * (threads - 1)))
    scale = np.maximum(design.max(axis=0), 1.0)
    unit = design / scale
    centre = float((np.log(threads) - logs).mean())
    wanted = np.log(threads) - logs - centre
    parameters = nnls(unit * (root / np.exp(wanted))[:, None], root)[0]
    best = _squares(unit, parameters, wanted, root)
    for _ in range(_STEPS):
        fitted = unit @ parameters
        if not (fitted > 0).all():
            return None
        step = nnls(unit * (root / fitted)[:, None], root * (1 + wanted - np.log(fitted)))[0]
        squares = _squares(unit, step, wanted, root)
        if not squares < best:
            break
        parameters, best = step, squares
    a, b, c = (float(p) for p in parameters / scale)
    if a + b <= 0:
        return None
    return Law(math.exp(-centre) / (a + b), b / (a + b), c / (a + b))


def _squares(unit: Floats, parameters: Floats, wanted: Floats, root: Floats) -> float:
    fitted = unit @ parameters
    if not (fitted > 0).all():
        return math.inf
    return float(((root * (np.log(fitted) - wanted)) ** 2).sum())


def law(threads: Sequence[int], logs: Floats) -> ScalabilityLaw | None:
    """The law of one deployment and workload from the logs of throughput[block, level].

    Missing values are NaN; every level has one. None where no finite λ fits. Bands need six blocks:
    a bootstrap over blocks, its percentiles widened for few of them (Hesterberg 2015), always the
    same seed.
    """
    levels = np.array([float(n) for n in threads])
    whole = _of_blocks(levels, logs)
    if whole is None:
        return None
    resampled = _bootstrap(levels, logs) if len(logs) >= MINIMUM_BLOCKS else []
    tail = _tail(len(logs)) if resampled else 0.0

    def band(value: Callable[[Law], float]) -> tuple[float | None, float | None]:
        if not resampled:
            return None, None
        found = np.array([value(one) for one in resampled])
        ends = np.quantile(found, [tail, 1 - tail], method="nearest")
        return _finite(ends[0]), _finite(ends[1])

    def estimate(value: Callable[[Law], float], unit: str) -> Estimate:
        low, high = band(value)
        return Estimate(
            value=value(whole), low=low, high=high, n=len(logs), unit=unit, method=_method(low)
        )

    grid = sorted({*np.geomspace(levels.min(), levels.max(), _POINTS).tolist(), *levels.tolist()})
    bands = [band(lambda one, n=n: one.throughput(n)) for n in grid]  # type: ignore[misc]
    means = _means(logs)
    return ScalabilityLaw(
        rate=estimate(lambda one: one.rate, "op/s"),
        contention=estimate(lambda one: one.contention, "1"),
        coherency=estimate(lambda one: one.coherency, "1"),
        peak_threads=estimate(lambda one: one.peak, "threads") if whole.coherency else None,
        peak_throughput=estimate(lambda one: one.highest, "op/s") if whole.coherency else None,
        extrapolated=math.isfinite(whole.peak) and whole.peak > float(levels.max()),
        r_squared=_r_squared(whole, levels, means),
        points=tuple(
            FittedPoint(threads=n, value=whole.throughput(n), low=low, high=high)
            for n, (low, high) in zip(grid, bands, strict=True)
        ),
        notes=tuple(_notes(whole, levels, means)),
    )


def _means(logs: Floats) -> Floats:
    return np.asarray(np.nanmean(logs, axis=0))


def _of_blocks(levels: Floats, logs: Floats) -> Law | None:
    """The fit to the mean logs of these blocks, each level weighted by how many have it."""
    counts = (~np.isnan(logs)).sum(axis=0).astype(np.float64)
    known = counts > 0
    return fit(levels[known], _means(logs[:, known]), counts[known])


def _bootstrap(levels: Floats, logs: Floats) -> list[Law]:
    """Fits of resampled blocks; the same blocks in another order are fitted once only."""
    n = len(logs)
    drawn = np.sort(np.random.default_rng(_SEED).integers(0, n, size=(_RESAMPLES, n)), axis=1)
    distinct, counts = np.unique(drawn, axis=0, return_counts=True)
    found: list[Law] = []
    for rows, count in zip(distinct, counts.tolist(), strict=True):
        one = _of_blocks(levels, logs[rows])
        if one is not None:
            found += [one] * count
    return found


def _tail(blocks: int) -> float:
    """Share left out at each end: Φ(−t·√(n/(n−1))), so that few blocks do not cover too little."""
    t = t_quantile((1 + CONFIDENCE) / 2, blocks - 1)
    return float(special.ndtr(-t * math.sqrt(blocks / (blocks - 1))))


def _finite(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None


def _method(low: float | None) -> str:
    if low is None:
        return f"least squares on the logs, no band below {MINIMUM_BLOCKS} blocks"
    return "least squares on the logs, bootstrap over blocks widened for their number"


def _r_squared(whole: Law, levels: Floats, means: Floats) -> float | None:
    fitted = np.log([whole.throughput(float(n)) for n in levels])
    total = float(((means - means.mean()) ** 2).sum())
    return 1 - float(((means - fitted) ** 2).sum()) / total if total > 0 else None


def _notes(whole: Law, levels: Floats, means: Floats) -> list[str]:
    notes = []
    each = np.exp(means) / levels
    most = int(np.argmax(each))
    if each[most] > each[0] * _BEYOND_LINEAR:
        notes.append(
            f"Throughput per thread is higher at {levels[most]:.0f} threads than at "
            f"{levels[0]:.0f}: growth beyond linear, which the law does not know."
        )
    if whole.contention == 0:
        notes.append("Contention came out at its bound of 0.")
    if whole.coherency == 0:
        notes.append("Coherency came out at its bound of 0: the law has no peak.")
    return notes
