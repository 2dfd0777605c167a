"""A known loss of throughput, measured separately, to test the instrument."""

from __future__ import annotations

from collections.abc import Mapping

from dunnage.model.estimate import Estimate
from dunnage.model.value import Value

LOSSES_VERSION = 1
"""1: first."""


class LossStep(Value):
    """One measurement: times with stops of the servers alternate with equal times without."""

    share: float
    """Intended share of stopped time in a time with stops."""
    paused: float
    """Measured share of stopped time, mean over hosts."""
    pairs: int
    """Times with stops that were each compared with the following time without."""
    loss: float
    """Lost share of throughput."""
    low: float
    high: float
    """Ends of its 95 % interval."""
    cpu: float
    """CPU seconds per second of the stopping alone, mean over hosts. It is part of the loss."""


class KnownLoss(Value):
    """The slowdown of one deployment that causes the `loss` of its study."""

    asked: float
    """Share of throughput to lose."""
    share: float
    """Share of the time for which servers are stopped."""
    loss: Estimate
    """Lost share of throughput; `n` is the number of pairs."""
    steps: tuple[LossStep, ...]
    """The measurements before block 1 that found it."""
    checked: Estimate | None = None
    """The same loss after the last block; None until then."""


class Losses(Value):
    """Every known loss of a result: written before block 1, and again after the last block."""

    version: int = LOSSES_VERSION
    found: Mapping[str, KnownLoss]
    """By deployment."""
