"""Estimates of quantities that may be 0 and so have no logarithm: arithmetic means over blocks."""

from __future__ import annotations

from collections.abc import Mapping

from dunnage.analysis.estimate import CONFIDENCE, MINIMUM_BLOCKS, Paired
from dunnage.model.estimate import Estimate


def mean(values: Mapping[int, float], unit: str) -> Estimate | None:
    """Arithmetic mean over blocks with a t interval; None without a block."""
    return _estimate(tuple(values[block] for block in sorted(values)), unit, "arithmetic mean")


def difference(
    deployment: Mapping[int, float], baseline: Mapping[int, float], unit: str
) -> Estimate | None:
    """Mean of the differences inside blocks with a t interval; None without a complete block."""
    paired = Paired.of(deployment, baseline)
    return _estimate(paired.logs, unit, "mean of the differences inside blocks")


def _estimate(values: tuple[float, ...], unit: str, what: str) -> Estimate | None:
    """By the same arithmetic as paired logs, on the values themselves."""
    if not values:
        return None
    over = Paired(values)
    low, high = over.t_interval(CONFIDENCE) or (None, None)
    interval = "t interval" if low is not None else f"no interval below {MINIMUM_BLOCKS}"
    return Estimate(
        value=over.mean, low=low, high=high, n=over.n, unit=unit, method=f"{what}, {interval}"
    )
