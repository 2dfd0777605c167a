"""What a measurement without any deployment, and one without neighbours, tell of the others."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from dunnage.model.estimate import Estimate
from dunnage.model.value import Value


class NeighbourCost(Value):
    """A metric in turns compared with the same deployments measured alone."""

    metric: str
    difference: Estimate
    """Ratio minus one; blocks are paired."""
    uneven: Mapping[str, Estimate] = {}
    """Deployment → its ratio over the ratio of the baseline and its twin, minus one. It would look
    like a difference between platforms. The intervals hold together. Empty with too few blocks."""


class ControlMoment(StrEnum):
    """When the negative control was measured."""

    BEFORE_STAY = "before stay"
    """Before the deployment started."""
    AFTER_TURN = "after turn"
    """After each of its turns, while no deployment ran."""


class ControlDifference(Value):
    """The negative control of one deployment against the baseline. No deployment can change it."""

    control: str
    """`arithmetic` or `loopback`."""
    moment: ControlMoment = ControlMoment.BEFORE_STAY
    deployment: str
    baseline: str
    difference: Estimate
