"""What analysis makes of the records. A number never travels alone."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from dunnage.model.value import Scalar, Value

ANALYSIS_VERSION = 1
"""1: first."""


class Estimate(Value):
    """A value with its interval. `n` is the number of blocks; `method` says how it was made.

    `low` and `high` are None where there are too few blocks for an interval.
    """

    value: float
    low: float | None
    high: float | None
    n: int
    unit: str
    method: str
    level: float = 0.95
    """Coverage of the interval, simultaneous over the family it belongs to."""


class Verdict(StrEnum):
    """What may be said of a difference."""

    EQUIVALENT = "equivalent"
    OVERHEAD = "overhead"
    GAIN = "gain"
    INCONCLUSIVE = "inconclusive"


class Comparison(Value):
    """One deployment against its baseline for one metric, workload and level."""

    question: str | None
    """Name of the question it answers; None where it is exploratory."""
    deployment: str
    baseline: str
    metric: str
    workload: str
    level: str
    difference: Estimate
    """Ratio minus one: +0.05 is 5 % more of the metric, whichever direction is better."""
    hodges_lehmann: float | None
    """The same difference by the median of pairwise means: a check on outliers."""
    bound: float | None
    """A/A bound: no claim smaller than this; None without a twin or with too few blocks."""
    tolerance: float
    verdict: Verdict
    blocks_needed: int | None
    """Blocks in all that would settle an inconclusive verdict; None otherwise."""
    detectable: float | None
    """Smallest difference that these blocks would have found with a power of 80 %."""
    reason: str
    """One sentence: why this verdict."""


class Summary(Value):
    """One deployment, workload, level and metric, over blocks."""

    deployment: str
    workload: str
    level: str
    metric: str
    estimate: Estimate


class QuestionAnswer(Value):
    """One question of the study with everything that bears on it."""

    question: str
    comparisons: tuple[Comparison, ...]
    factors: Mapping[str, tuple[str, ...]]
    """Deployment compared → factors in which it differs from the baseline, as `key: a → b`."""
    differences: Mapping[str, tuple[str, ...]]
    """Deployment compared → differences that parity found and that are not factors under study."""
    complete_blocks: int


class OrderDiagnosis(Value):
    """Whether order or time explains what is left after deployment and block."""

    metric: str
    workload: str
    level: str
    spearman: float | None
    """Rank correlation of residuals with the position in the study."""
    p: float | None
    change_point: int | None
    """Position at which the residuals most likely shift; None where nothing suggests a shift."""


class RunSummary(Value):
    """One run with the value of every metric it has, for tables and CSV."""

    run: str
    stay: str
    block: int
    deployment: str
    workload: str
    level: str
    position: int
    status: str
    values: Mapping[str, float]
    reasons: tuple[str, ...]
    """Why it is not valid."""
    paused: float | None = None
    """Share of the measured time in which a declared slowdown really held the servers."""


class LatencyCurve(Value):
    """Merged latency distribution of one deployment, workload and level, over its valid runs."""

    deployment: str
    workload: str
    level: str
    kind: str
    """`service` or `response`."""
    points: tuple[tuple[float, float], ...]
    """(quantile as a share of one, seconds)."""
    count: int


class Share(Value):
    """Part of the CPU per operation of a deployment: where it was spent."""

    deployment: str
    workload: str
    level: str
    part: str
    """`server user`, `server system`, `daemons`, `other`, `client`; where all hosts are one machine
    also `outside`: what it did in no host's control group, which `cpu.database` does not have."""
    seconds_per_operation: float


class Parity(Value):
    """Whether the deployments ran the same thing."""

    compared: tuple[str, ...]
    differences: tuple[str, ...]
    """Each as a sentence; empty when nothing but the factors under study differs."""


class Analysis(Value):
    """Everything the report says. Pure function of the result directory."""

    version: int = ANALYSIS_VERSION
    study: str
    answers: tuple[QuestionAnswer, ...]
    comparisons: tuple[Comparison, ...]
    """Headline metrics of every deployment against the study's baseline, exploratory ones too."""
    twin: tuple[Comparison, ...]
    """The twin against its original: the A/A evidence."""
    summaries: tuple[Summary, ...]
    order: tuple[OrderDiagnosis, ...]
    runs: tuple[RunSummary, ...]
    curves: tuple[LatencyCurve, ...]
    shares: tuple[Share, ...]
    parity: Parity
    planned: int
    valid: int
    invalid: int
    unknown: int
    missing: int
    disturbed: Mapping[str, int] = {}
    """Gate → attempts that it spoilt and that were made again; their records name each."""
    environment: Mapping[str, Scalar]
    skipped: tuple[str, ...]
    """Deployments that could not run here, with the reason."""
