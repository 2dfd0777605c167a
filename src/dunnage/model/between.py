"""Comparison of two results: whether they are comparable, and what changed."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from dunnage.model.analysis import Ground, Verdict
from dunnage.model.damage import Damage
from dunnage.model.estimate import Estimate
from dunnage.model.parity import Difference
from dunnage.model.remarks import Restarted
from dunnage.model.value import Value

BETWEEN_VERSION = 8
"""1: first. 2: mismatches, and what was left out, are values. 3: without the sentences on how to
read it, which are shown with it. 4: damaged files of both results.
5: blocks with both twins. 6: what is masked or unseen in both.
7: `damaged`, a ground of verdicts; whether a result is invented, and its times are those of a
simulated clock. 8: facts of networks that a result lacks, and stays in which programs of a lab's
Kubernetes were restarted."""


class ChangeVerdict(StrEnum):
    """A verdict on a change from one result to the other."""

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
"""Verdict on a comparison → verdict on a change."""


class ChangeGround(StrEnum):
    """The reason for a verdict on a change: those of the grounds that two results can have."""

    INSIDE = Ground.INSIDE.value
    BEYOND = Ground.BEYOND.value
    ACROSS = Ground.ACROSS.value
    TOO_FEW_BLOCKS = Ground.TOO_FEW_BLOCKS.value
    NO_BOUND = Ground.NO_BOUND.value
    DAMAGED = Ground.DAMAGED.value


class MismatchKind(StrEnum):
    """Kinds of mismatch, in the order in which they are shown."""

    STUDY = "study"
    DEPLOYMENT = "deployment"
    ENVIRONMENT = "environment"
    PROCESS = "process"
    NETWORK = "network"
    LOAD = "load"


class Mismatch(Value):
    """A fact that differs between two results but is not what is compared."""

    kind: MismatchKind
    deployments: tuple[str, ...] = ()
    """Deployments with the mismatch; empty for the whole result."""
    key: str = ""
    """Such as `kernel` or `load.threads`; empty if one result does not have the deployment."""
    a: str | None = None
    """Value in the first result; None if it has none."""
    b: str | None = None
    difference: Difference | None = None
    """Difference found by parity, for a process."""


class WhyLeftOut(StrEnum):
    """Why a deciding value cannot be compared."""

    OTHER_RATE = "other rate"
    """The same share of each result's own capacity is not the same rate."""
    OVER_CAPACITY = "over capacity"
    """A deployment could not keep up with the load, so its latencies are not comparable."""
    NO_VALUE = "no value"
    """A result has no value."""
    NO_RUN = "no run"
    """Neither result has a valid run."""


class LeftOut(Value):
    """A deciding value that cannot be compared."""

    why: WhyLeftOut
    deployment: str | None = None
    """None for all deployments."""
    metric: str | None = None
    workload: str
    level: str
    results: tuple[str, ...] = ()
    """Results with the reason: `first`, `second` or both."""
    rates: tuple[float, float] | None = None
    """Operations per second of both results, if they differ."""


class Side(Value):
    """One of the two results."""

    path: str
    study: str
    invented: bool = False
    """Whether fakes made its numbers: then its times are those of their simulated clock, which runs
    ahead of ours."""
    began: float | None
    """Unix time of the first run, in seconds; None if no run has ended."""
    ended: float | None
    blocks: int
    """Planned blocks."""
    valid: int
    planned: int
    damages: tuple[Damage, ...] = ()
    """Files that are not as they were written."""
    restarted: tuple[Restarted, ...] = ()
    """Stays in which programs of a lab's Kubernetes were restarted."""


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
    twin_blocks: tuple[int | None, int | None]
    """Blocks of each result that have both twins; None for a result without a twin."""
    tolerance: float
    verdict: ChangeVerdict
    ground: ChangeGround
    """Why this verdict; its edge is the larger of tolerance and A/A bound."""


class ResultComparison(Value):
    """What `dunnage compare` found."""

    version: int = BETWEEN_VERSION
    a: Side
    b: Side
    comparable: bool
    mismatches: tuple[Mismatch, ...]
    """Why the results are not comparable; empty if they are."""
    changes: tuple[Change, ...]
    """Empty if the results are not comparable, unless a comparison was forced."""
    left_out: tuple[LeftOut, ...] = ()
    """Deciding values that cannot be compared."""
    masked: tuple[str, ...] = ()
    """Keys and variables that are secrets in both results: whether they are the same is not known.
    """
    unseen: tuple[str, ...] = ()
    """Deployments whose processes neither result saw: whether they are alike is not known."""
    unread: tuple[str, ...] = ()
    """Facts of networks that a result does not know: whether they are the same is not known."""
