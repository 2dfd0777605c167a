"""Two results beside each other: whether they may be compared, and what changed between them."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from dunnage.model.analysis import Ground, Verdict
from dunnage.model.estimate import Estimate
from dunnage.model.parity import Difference
from dunnage.model.value import Value

BETWEEN_VERSION = 2
"""1: first. 2: mismatches, and what was left out, are values."""


class ChangeVerdict(StrEnum):
    """A verdict as it is called of a change from one result to the other."""

    REGRESSION = "regression"
    IMPROVEMENT = "improvement"
    EQUIVALENT = "equivalent"
    INCONCLUSIVE = "inconclusive"


CHANGES: Mapping[Verdict, ChangeVerdict] = {
    Verdict.OVERHEAD: ChangeVerdict.REGRESSION,
    Verdict.GAIN: ChangeVerdict.IMPROVEMENT,
    Verdict.EQUIVALENT: ChangeVerdict.EQUIVALENT,
    Verdict.INCONCLUSIVE: ChangeVerdict.INCONCLUSIVE,
}
"""Verdict → what it is called of a change."""


class MismatchKind(StrEnum):
    """What a mismatch is of, in the order in which mismatches are shown."""

    STUDY = "study"
    DEPLOYMENT = "deployment"
    ENVIRONMENT = "environment"
    PROCESS = "process"
    NETWORK = "network"


class Mismatch(Value):
    """A fact in which two results differ although it is not what is compared."""

    kind: MismatchKind
    deployments: tuple[str, ...] = ()
    """Of which it is; empty where it is of the whole result."""
    key: str = ""
    """Such as `kernel` or `load.threads`; empty where one result lacks the deployment."""
    a: str | None = None
    """What the first result has; None where it has nothing."""
    b: str | None = None
    difference: Difference | None = None
    """What parity found, of a process."""


class WhyLeftOut(StrEnum):
    """Why something that decides cannot be compared."""

    OTHER_RATE = "other rate"
    """The same share of each result's own capacity is not the same rate."""
    OVER_CAPACITY = "over capacity"
    """A deployment could not keep up with the load, so that its latencies say nothing."""
    NO_VALUE = "no value"
    """A result has no value."""
    NO_RUN = "no run"
    """Neither result has a valid run."""


class LeftOut(Value):
    """Something that decides and cannot be compared."""

    why: WhyLeftOut
    deployment: str | None = None
    """None where it holds for all."""
    metric: str | None = None
    workload: str
    level: str
    results: tuple[str, ...] = ()
    """`first`, `second` or both: where the reason lies."""
    rates: tuple[float, float] | None = None
    """Operations per second of both results, where these differ."""


class Side(Value):
    """One of the two results."""

    path: str
    study: str
    began: float | None
    """Unix time of the first run, in seconds; None where none has ended."""
    ended: float | None
    blocks: int
    """Planned blocks."""
    valid: int
    planned: int


class Change(Value):
    """One metric of one deployment, `b` against `a`."""

    deployment: str
    metric: str
    workload: str
    level: str
    gate: bool
    """Whether it decides: headline metrics, and what questions name, of every deployment but twins.
    Their intervals hold together; the others are exploratory and stand alone."""
    a: Estimate
    b: Estimate
    change: Estimate
    """Ratio minus one: +0.05 is 5 % more of the metric, whichever direction is better."""
    overhead: Estimate | None
    """How the overhead over the study's baseline changed (ratio of the two ratios, minus one): free
    of what both deployments of a result share, such as a slower day. None for the baseline, and for
    latencies where one of the two could not keep up with the load."""
    bound: float | None
    """The larger A/A bound of the two results; None unless both have one."""
    tolerance: float
    verdict: ChangeVerdict
    ground: Ground
    """Why this verdict; its edge is the larger of tolerance and A/A bound."""


class ResultComparison(Value):
    """What `dunnage compare` found."""

    version: int = BETWEEN_VERSION
    a: Side
    b: Side
    comparable: bool
    mismatches: tuple[Mismatch, ...]
    """Why they are not comparable; empty where they are."""
    changes: tuple[Change, ...]
    """Empty where they are not comparable and nobody asked to compare them anyway."""
    left_out: tuple[LeftOut, ...] = ()
    """What decides and cannot be compared."""
    method: str
    caution: str
    """What nobody may conclude."""
