"""Estimates over blocks with their intervals, of logarithms and of values that may be 0.

A block holds one stay of every deployment, so the log ratio within a block is free of what the
blocks differ in, and blocks are what is resampled. Requests and runs are never taken as n.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from dunnage.analysis.distributions import normal_probability, normal_quantile, t_quantile
from dunnage.analysis.groups import grouped
from dunnage.model.estimate import Estimate

MINIMUM_BLOCKS = 6
"""Fewer complete blocks have no interval."""
BOOTSTRAP_BLOCKS = 30
"""From here on BCa; below it covers too little (about 90 % at 8 to 12 blocks)."""
CONFIDENCE = 0.95
POWER = 0.8
_RESAMPLES = 10_000
_SEED = 20_180


def sidak(comparisons: int, confidence: float = CONFIDENCE) -> float:
    """Coverage that each of a family's intervals needs so that all hold together.

    `confidence ** (1 / comparisons)` (Šidák 1967). Exact for independent comparisons and
    conservative for those that share a baseline; unlike a max-t bootstrap it needs no correlation
    estimated from six blocks.
    """
    return float(confidence ** (1 / max(1, comparisons)))


def block_logs(values: Iterable[tuple[int, float]]) -> dict[int, float]:
    """Mean log value of each block from `(block, value)` pairs.

    Repeated runs are averaged before blocks are compared. A value that has no logarithm is left
    out, as is its block when it has no other.
    """
    return block_means(
        (block, math.log(value)) for block, value in values if value > 0 and math.isfinite(value)
    )


def block_means(values: Iterable[tuple[int, float]]) -> dict[int, float]:
    """Arithmetic mean of each block from `(block, value)` pairs."""
    return {
        block: math.fsum(value for _, value in pairs) / len(pairs)
        for block, pairs in sorted(grouped(values, lambda pair: pair[0]).items())
    }


@dataclass(frozen=True)
class Paired:
    """Log ratios of a deployment over its baseline, one for each complete block."""

    logs: tuple[float, ...]

    @classmethod
    def of(cls, deployment: Mapping[int, float], baseline: Mapping[int, float]) -> Paired:
        """Pair two results of `block_logs`; blocks that lack either side are incomplete."""
        complete = sorted(deployment.keys() & baseline.keys())
        return cls(tuple(deployment[block] - baseline[block] for block in complete))

    @property
    def n(self) -> int:
        """Complete blocks."""
        return len(self.logs)

    @cached_property
    def mean(self) -> float:
        """Mean of the log ratios; raises ZeroDivisionError without a complete block."""
        return math.fsum(self.logs) / self.n

    @cached_property
    def sd(self) -> float:
        """Standard deviation of the log ratios, 0 below two blocks."""
        if self.n < 2:
            return 0.0
        return math.sqrt(math.fsum((d - self.mean) ** 2 for d in self.logs) / (self.n - 1))

    def interval(self, level: float) -> tuple[float, float] | None:
        """Interval of the mean log ratio, or None below six complete blocks."""
        if self.n >= BOOTSTRAP_BLOCKS and self.sd > 0:
            return _bca(np.asarray(self.logs), level)
        return self.t_interval(level)

    def t_interval(self, level: float) -> tuple[float, float] | None:
        """Student's t interval of the mean, whatever the number of blocks; None below six."""
        if self.n < MINIMUM_BLOCKS:
            return None
        half = t_quantile((1 + level) / 2, self.n - 1) * self.sd / math.sqrt(self.n)
        return self.mean - half, self.mean + half

    def difference(self, level: float, family: int = 1) -> Estimate | None:
        """Ratio minus one with its interval; None without a complete block.

        `level` is the coverage of all `family` intervals together.
        """
        if not self.logs:
            return None
        ends = self.interval(sidak(family, level))
        kind = "BCa bootstrap over blocks" if self.n >= BOOTSTRAP_BLOCKS else "t interval"
        if ends is None:
            kind = f"no interval below {MINIMUM_BLOCKS} complete blocks"
        method = f"paired log ratio, {kind}"
        if family > 1 and ends:
            method += f", simultaneous over {family} comparisons (Šidák)"
        return as_ratio(self.mean, ends, self.n, method, level)

    def hodges_lehmann(self) -> float | None:
        """Ratio minus one by the median of pairwise (Walsh) means; None without a block."""
        if not self.logs:
            return None
        return math.expm1(float(np.median(walsh(self.logs))))

    def detectable(self, level: float) -> float | None:
        """Smallest increase these blocks find with a power of 80 %; None below six blocks.

        `exp((t[1-α/2] + t[0.8]) · s / √n) − 1` with n−1 degrees of freedom.
        """
        if self.n < MINIMUM_BLOCKS:
            return None
        quantiles = t_quantile((1 + level) / 2, self.n - 1) + t_quantile(POWER, self.n - 1)
        return math.expm1(quantiles * self.sd / math.sqrt(self.n))


def walsh(values: Sequence[float]) -> NDArray[np.float64]:
    """The means of all pairs of values, of each with itself too, in order."""
    each = np.asarray(values, dtype=np.float64)
    rows, columns = np.triu_indices(len(each))
    return np.sort((each[rows] + each[columns]) / 2)


def as_ratio(
    mean: float, ends: tuple[float, float] | None, n: int, method: str, level: float
) -> Estimate:
    """A difference of logarithms and the ends of its interval as a ratio minus one."""
    return Estimate(
        value=math.expm1(mean),
        low=math.expm1(ends[0]) if ends else None,
        high=math.expm1(ends[1]) if ends else None,
        n=n,
        unit="share",
        method=method,
        level=level,
    )


def over_blocks(logs: Mapping[int, float], unit: str) -> Estimate | None:
    """Geometric mean over blocks of one deployment's values, with a t interval on the logs."""
    what = "geometric mean over blocks", "t interval on the logs"
    return _by_t(_in_order(logs), unit, *what, math.exp)


def mean_over_blocks(values: Mapping[int, float], unit: str) -> Estimate | None:
    """Arithmetic mean of values that may be 0, with a t interval; None without a block."""
    return _by_t(_in_order(values), unit, "arithmetic mean")


def difference_over_blocks(
    deployment: Mapping[int, float], baseline: Mapping[int, float], unit: str
) -> Estimate | None:
    """Mean of the differences of such values inside blocks; None without a complete block."""
    pairs = Paired.of(deployment, baseline)
    return _by_t(pairs.logs, unit, "mean of the differences inside blocks")


def _in_order(values: Mapping[int, float]) -> tuple[float, ...]:
    return tuple(values[block] for block in sorted(values))


def _by_t(
    values: tuple[float, ...],
    unit: str,
    what: str,
    interval: str = "t interval",
    scale: Callable[[float], float] = float,
) -> Estimate | None:
    """Mean of values with a t interval; `scale` takes both into the unit."""
    if not values:
        return None
    over = Paired(values)
    ends = over.t_interval(CONFIDENCE)
    return Estimate(
        value=scale(over.mean),
        low=scale(ends[0]) if ends else None,
        high=scale(ends[1]) if ends else None,
        n=over.n,
        unit=unit,
        method=f"{what}, {interval if ends else f'no interval below {MINIMUM_BLOCKS}'}",
    )


def _bca(logs: NDArray[np.float64], level: float) -> tuple[float, float]:
    """Bias-corrected and accelerated bootstrap of the mean (Efron 1987), always the same seed."""
    n = len(logs)
    generator = np.random.default_rng(_SEED)
    means = np.sort(logs[generator.integers(0, n, size=(_RESAMPLES, n))].mean(axis=1))
    mean = float(logs.mean())
    below = (np.count_nonzero(means < mean) + np.count_nonzero(means <= mean)) / 2
    bias = normal_quantile(min(max(below, 1), _RESAMPLES - 1) / _RESAMPLES)
    left_out = (logs.sum() - logs) / (n - 1)
    skew = left_out.mean() - left_out
    spread = float((skew**2).sum()) ** 1.5
    acceleration = float((skew**3).sum()) / (6 * spread) if spread > 0 else 0.0

    def end(probability: float) -> float:
        z = bias + normal_quantile(probability)
        return float(np.quantile(means, normal_probability(bias + z / (1 - acceleration * z))))

    return end((1 - level) / 2), end((1 + level) / 2)
