"""What each deployment of a study adds to an operation over the one before it."""

from __future__ import annotations

import math

from dunnage.model.estimate import Estimate
from dunnage.model.parity import Factor
from dunnage.model.value import Value


class Rung(Value):
    """The step from one deployment to the next."""

    baseline: str
    deployment: str
    factors: tuple[Factor, ...]
    """In which the two differ. With several, no single one is the cause."""
    difference: Estimate
    """What is added, in s/op: mean of the differences inside blocks. `n` is 0 where no block has
    valid runs of both."""


class Rungs(Value):
    """Deployments of one workload and level in the order of the study, the baseline first.

    A twin stands for its original where the two are alike, and is no rung of its own.
    """

    workload: str
    level: str
    metric: str
    """`service.mean` (closed loops only), `cpu.database` or `cpu.client`."""
    first: Estimate
    """The first deployment's own value in s/op: arithmetic mean over blocks."""
    steps: tuple[Rung, ...]
    whole: Rung
    """From the first deployment to the last, measured by itself."""
    unexplained: float | None
    """The whole less the sum of the steps, in s/op: what comes of blocks that not all of them have.
    0 where all have the same blocks, for then they add up by arithmetic, whatever the cause of
    each; None where the whole is not known."""
    left_out: tuple[str, ...] = ()
    """Deployments without a value here."""

    @property
    def total(self) -> float:
        """The sum of the steps in s/op; one that is not known adds nothing."""
        return math.fsum(step.difference.value for step in self.steps)
