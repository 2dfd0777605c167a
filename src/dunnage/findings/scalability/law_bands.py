"""The Universal Scalability Law of one deployment, with bands by a bootstrap over blocks."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from dunnage.analysis.distributions import normal_probability, t_quantile
from dunnage.analysis.intervals import CONFIDENCE, MINIMUM_BLOCKS
from dunnage.findings.scalability.law import Floats, Law, fit, r_squared
from dunnage.model.estimate import Estimate
from dunnage.model.scalability import FittedPoint, ScalabilityLaw

MINIMUM_LEVELS = 6
"""Below that, three parameters fit whatever was measured."""
_RESAMPLES = 2000
_SEED = 19_930
_POINTS = 49
_BEYOND_LINEAR = 1.05
"""Throughput per thread over that of the lightest level above which a note says so."""


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
    enough = len(logs) >= MINIMUM_BLOCKS
    resampled = _bootstrap(levels, logs) if enough else []
    dropped = _RESAMPLES - len(resampled) if enough else 0
    tail = _tail(len(logs)) if resampled else 0.0

    rates, contentions, coherencies = (
        np.array([getattr(one, name) for one in resampled])
        for name in ("rate", "contention", "coherency")
    )

    def band(draws: Floats) -> tuple[float | None, float | None]:
        if not resampled:
            return None, None
        ends = np.quantile(draws, [tail, 1 - tail], method="nearest")
        return _finite(ends[0]), _finite(ends[1])

    def at(n: float) -> Floats:
        """Throughput at n threads by every fit of the bootstrap."""
        return rates * n / (1 + contentions * (n - 1) + coherencies * n * (n - 1))

    def estimate(value: Callable[[Law], float], unit: str) -> Estimate:
        draws = np.array([value(one) for one in resampled])
        low, high = band(draws)
        return Estimate(
            value=value(whole),
            low=low,
            high=high,
            n=len(logs),
            unit=unit,
            method=_method(draws, dropped),
        )

    grid = sorted({*np.geomspace(levels.min(), levels.max(), _POINTS).tolist(), *levels.tolist()})
    bands = [band(at(n)) for n in grid]
    means = np.asarray(np.nanmean(logs, axis=0))
    return ScalabilityLaw(
        rate=estimate(lambda one: one.rate, "op/s"),
        contention=estimate(lambda one: one.contention, "1"),
        coherency=estimate(lambda one: one.coherency, "1"),
        peak_threads=estimate(lambda one: one.peak, "threads") if whole.coherency else None,
        peak_throughput=estimate(lambda one: one.highest, "op/s") if whole.coherency else None,
        extrapolated=math.isfinite(whole.peak) and whole.peak > float(levels.max()),
        r_squared=r_squared(means, np.log([whole.throughput(float(n)) for n in levels])),
        points=tuple(
            FittedPoint(threads=n, value=whole.throughput(n), low=low, high=high)
            for n, (low, high) in zip(grid, bands, strict=True)
        ),
        notes=tuple(_notes(whole, levels, means)),
    )


def _of_blocks(levels: Floats, logs: Floats) -> Law | None:
    """The fit to the mean logs of these blocks, each level weighted by how many have it."""
    counts = (~np.isnan(logs)).sum(axis=0).astype(np.float64)
    known = counts > 0
    return fit(levels[known], np.asarray(np.nanmean(logs[:, known], axis=0)), counts[known])


def _bootstrap(levels: Floats, logs: Floats) -> list[Law]:
    """Fits of resampled blocks; the same blocks in another order are fitted once only."""
    n = len(logs)
    drawn = np.sort(np.random.default_rng(_SEED).integers(0, n, size=(_RESAMPLES, n)), axis=1)
    distinct, counts = np.unique(drawn, axis=0, return_counts=True)
    fits: list[Law] = []
    for rows, count in zip(distinct, counts.tolist(), strict=True):
        one = _of_blocks(levels, logs[rows])
        if one is not None:
            fits += [one] * count
    return fits


def _tail(blocks: int) -> float:
    """Share left out at each end: Φ(−t·√(n/(n−1))), so that few blocks do not cover too little."""
    t = t_quantile((1 + CONFIDENCE) / 2, blocks - 1)
    return normal_probability(-t * math.sqrt(blocks / (blocks - 1)))


def _finite(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None


def _method(values: Floats, dropped: int) -> str:
    """How the band of a value was made from the resamples that have it, or why there is none."""
    parts = ["least squares on the logs"]
    infinite = int((~np.isfinite(values)).sum())
    if len(values):
        parts.append("bootstrap over blocks widened for their number")
    elif not dropped:
        parts.append(f"no band below {MINIMUM_BLOCKS} blocks")
    else:
        parts.append("no band, as no resample of the blocks has a fit")
    if infinite:
        parts.append(f"infinite in {infinite} of {len(values)} resamples")
    if dropped and len(values):
        parts.append(f"{dropped} of {_RESAMPLES} resamples without a fit left out")
    return ", ".join(parts)


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
