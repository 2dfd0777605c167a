"""Whether the answer reads a loss as it is known to be. Pure."""

from __future__ import annotations

import math
from typing import NamedTuple

from dunnage.analysis.distributions import normal_quantile
from dunnage.model.analysis import Analysis, Comparison, Ground
from dunnage.model.damage import of_the_whole
from dunnage.model.loss import KnownLoss

LOSSES = "losses.json"
"""The file of what is known."""


class Agreement(NamedTuple):
    """What was read less what is known, as shares of throughput, with the interval of the first."""

    comparison: Comparison
    known: float
    """What is known to be lost, before block 1 and after the last together."""
    difference: float
    low: float
    high: float

    @property
    def holds(self) -> bool:
        """Whether the two may be the same."""
        return self.low <= 0 <= self.high


def agreements(analysis: Analysis) -> tuple[Agreement, ...]:
    """One for each primary comparison of throughput between a losing deployment and another.

    None where what is known, or what is compared with it, is not as it was written.
    """
    known = all(each.file != LOSSES for each in of_the_whole(analysis.damages))
    return tuple(
        _agreement(comparison, analysis.losses[comparison.deployment])
        for answer in analysis.answers
        for comparison in answer.comparisons
        if known
        and comparison.ground is not Ground.DAMAGED
        and comparison.primary
        and comparison.metric == "throughput"
        and comparison.deployment in analysis.losses
        and comparison.baseline not in analysis.losses
        and comparison.difference.low is not None
    )


def _agreement(comparison: Comparison, loss: KnownLoss) -> Agreement:
    """The interval of a difference of two estimates, from the intervals of both (MOVER: Zou and
    Donner 2008, Statistics in Medicine 27, 1693–1702)."""
    read = comparison.difference
    known, below, above = _together(loss, read.level)
    assert read.low is not None and read.high is not None  # noqa: S101 (asked for before)
    difference = read.value + known
    return Agreement(
        comparison=comparison,
        known=known,
        difference=difference,
        low=difference - math.hypot(read.value - read.low, below),
        high=difference + math.hypot(read.high - read.value, above),
    )


def _together(loss: KnownLoss, level: float) -> tuple[float, float, float]:
    """A known loss, and how far its interval reaches down and up: from the lowest end of both
    stays to the highest, as one stay may lose more than another.

    Intervals of losses are normal ones, so those of another level are as many times as wide as the
    quantiles are large.
    """
    stays = [loss.loss, *((loss.checked,) if loss.checked is not None else ())]
    value = sum(stay.n * stay.value for stay in stays) / sum(stay.n for stay in stays)
    wider = normal_quantile((1 + level) / 2) / normal_quantile((1 + loss.loss.level) / 2)
    below = max(value - stay.low for stay in stays if stay.low is not None)
    above = max(stay.high - value for stay in stays if stay.high is not None)
    return value, wider * below, wider * above
