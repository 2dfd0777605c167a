"""A loss of throughput that is known because it was measured by itself, to test the instrument."""

from __future__ import annotations

from collections.abc import Mapping

from dunnage.model.estimate import Estimate
from dunnage.model.value import Value

LOSSES_VERSION = 1
"""1: first."""


class LossStep(Value):
    """One look: servers were held for a while and left alone for as long, over and over."""

    share: float
    """Share of the time for which servers were to be stopped while they were held."""
    paused: float
    """What it really was, mean over hosts."""
    pairs: int
    """Pieces of time with stops that were compared with the piece without that followed."""
    loss: float
    """Throughput that was lost, as a share."""
    low: float
    high: float
    """Ends of its 95 % interval."""
    cpu: float
    """CPU seconds a second that stopping them took by itself, mean over hosts. It is part of the
    loss."""


class KnownLoss(Value):
    """The slowdown of one deployment that loses as much throughput as its study asks for."""

    asked: float
    """Share of throughput to lose."""
    share: float
    """Share of the time for which servers are stopped."""
    loss: Estimate
    """What is lost with it, as a share of throughput; `n` is the number of pairs."""
    steps: tuple[LossStep, ...]
    """How it was found, before block 1."""
    checked: Estimate | None = None
    """The same loss after the last block; None until then."""


class Losses(Value):
    """Every known loss of a result: written before block 1, and again after the last block."""

    version: int = LOSSES_VERSION
    found: Mapping[str, KnownLoss]
    """By deployment."""
