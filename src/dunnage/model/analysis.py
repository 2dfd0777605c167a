"""What analysis makes of the records. A number never travels alone."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from dunnage.model.calibration import Calibration
from dunnage.model.check import CheckResult
from dunnage.model.conditions import Conditions
from dunnage.model.estimate import Estimate as Estimate
from dunnage.model.explanation import AbsentCounter, Association, LatencyDifference, TimeLine
from dunnage.model.look import Look
from dunnage.model.loss import KnownLoss
from dunnage.model.open_load import OpenLevel, SaturationSearch
from dunnage.model.parity import Difference, Factor, FoundDifference
from dunnage.model.plan import Skipped
from dunnage.model.scalability import OverLevels, Scalability
from dunnage.model.value import Scalar, Value
from dunnage.model.variance import QuestionAdvice, VarianceSplit

ANALYSIS_VERSION = 6
"""1: first. 2: scalability, variance, advice, quantile differences, time lines, associations.
3: searches and open levels; `under_objectives` of scalability had another name.
4: families are the primary comparisons of one question, and twins no longer make an edge: `apart`
took the place of `bound`. 5: gates, differences, factors, what was skipped, and why a
verdict is what it is are values. 6: so are why parts of a variance are not told apart, and why a
probe was refused; a reading tells member and host apart."""


class Verdict(StrEnum):
    """What may be said of a difference."""

    EQUIVALENT = "equivalent"
    OVERHEAD = "overhead"
    GAIN = "gain"
    INCONCLUSIVE = "inconclusive"


class Ground(StrEnum):
    """What a verdict rests on."""

    INSIDE = "inside"
    """The interval lies inside the tolerance."""
    BEYOND = "beyond"
    """It lies beyond it."""
    ACROSS = "across"
    """It reaches across an edge: more blocks would settle it."""
    ON_AN_EDGE = "on an edge"
    """The estimate lies on the edge between two verdicts, where blocks do not help."""
    TWINS_TOO_FAR = "twins too far"
    """Identical deployments differ by more than the tolerance."""
    TOO_FEW_BLOCKS = "too few blocks"
    TOO_FEW_TWINS = "too few twins"
    """Too few blocks have both twins."""
    NO_TWIN = "no twin"
    NO_BOUND = "no bound"
    """Of two results, one has no twins there, or too few blocks with both."""
    TWINS_OVERLOADED = "twins overloaded"
    """A twin could not keep up with the load, so that its latencies say nothing."""
    OVERLOADED = "overloaded"
    """A side of the comparison could not."""
    NEIGHBOURS = "neighbours"
    """Deployments that live side by side cost each other more than the tolerance."""


CLAIMING = frozenset(
    {Ground.INSIDE, Ground.BEYOND, Ground.ACROSS, Ground.ON_AN_EDGE, Ground.TWINS_TOO_FAR}
)
"""Grounds that are the interval's; on all others nothing is claimed whatever it says."""


class Overload(Value):
    """A deployment that could not keep up with an open load."""

    deployment: str
    over: int
    """Valid runs in which it could not."""
    runs: int
    """Valid runs."""
    least: float | None
    """Share of the offered operations that was answered at worst."""


class Comparison(Value):
    """One deployment against its baseline for one metric, workload and level."""

    question: str | None
    """Name of the question it answers; None where it is exploratory."""
    primary: bool
    """Whether it decides that question, so that its interval holds together with the others that
    do; secondary and exploratory ones have an interval of their own."""
    deployment: str
    baseline: str
    metric: str
    workload: str
    level: str
    difference: Estimate
    """Ratio minus one: +0.05 is 5 % more of the metric, whichever direction is better."""
    by_block: tuple[float, ...]
    """The same of each complete block by itself, in the order of the blocks."""
    family: int
    """Comparisons whose intervals hold together, this one among them."""
    hodges_lehmann: float | None
    """The same difference by the median of pairwise means: a check on outliers."""
    apart: float | None
    """By how much identical deployments differ for certain under this condition: 0 where their
    interval holds zero, else its nearer end. None without a twin or with too few blocks."""
    tolerance: float
    verdict: Verdict
    blocks_needed: int | None
    """Blocks in all that would settle an inconclusive verdict; None otherwise."""
    detectable: float | None
    """Smallest difference that these blocks would have found with a power of 80 %."""
    ground: Ground
    """Why this verdict."""
    twins: bool = False
    """Whether the two are the twins themselves, judged by the tolerance alone so that they can
    fail."""
    twin_blocks: int | None = None
    """Blocks that have both twins; None where there are none."""
    overloads: tuple[Overload, ...] = ()
    """Of the sides or the twins, where that is the ground."""
    neighbours: float | None = None
    """By how much neighbours change the metric at least, where that is the ground."""

    @property
    def withheld(self) -> bool:
        """Whether nothing is claimed for another reason than the interval."""
        return self.ground not in CLAIMING


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
    factors: Mapping[str, tuple[Factor, ...]]
    """Deployment compared → factors in which it differs from the baseline."""
    differences: Mapping[str, tuple[Difference, ...]]
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
    place: float | None = None
    """p of an F test: do places in a block differ beside deployment, block and predecessor?"""
    predecessor: float | None = None
    """p of an F test: does it matter which deployment came right before?"""


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
    checks: tuple[CheckResult, ...] = ()
    """Gates that it did not pass."""
    differences: tuple[Difference, ...] = ()
    """What parity found of its stay that no factor under study explains."""
    paused: float | None = None
    """Share of the measured time in which a declared slowdown really held the servers."""
    over_capacity: bool = False
    """The deployment could not keep up with the open load: its latencies are not compared."""
    sampler_cpu: float | None = None
    """CPU seconds of all hosts' samplers in the measured window; None where one is unknown."""
    trend: float | None = None
    """Throughput of the last third of the measured window over the first, minus one; None in a load
    phase and where windows are too few."""


class LatencyCurve(Value):
    """Merged latency distribution of one deployment, workload and level, over its valid runs."""

    deployment: str
    workload: str
    level: str
    kind: str
    """`service` or `response`."""
    points: tuple[tuple[float, float], ...]
    """(quantile as a share of one, seconds), to p99.99 at most and never beyond 1 − 10/count: fewer
    than ten operations say nothing of a quantile. Evenly spaced on the logarithm of the tail."""
    count: int
    maximum: float | None = None
    """Seconds of the slowest operation."""


class Share(Value):
    """Part of the CPU per operation of a deployment: where it was spent."""

    deployment: str
    workload: str
    level: str
    part: str
    """`server user`, `server system`, `daemons`, `other`, `client`; where all hosts are one machine
    also `outside`: what it did in no host's control group, which `cpu.database` does not have;
    where measurable `soft interrupts`, which the kernel charges to whoever was interrupted."""
    seconds_per_operation: float
    """Arithmetic mean over blocks."""
    estimate: Estimate | None = None
    """The same with its interval over blocks, in s/op."""
    difference: Estimate | None = None
    """Less the baseline's, paired over blocks, in s/op; None for the baseline itself."""
    contained: bool = False
    """Whether the other parts contain it already, so that it must not be stacked upon them."""


class GateSummary(Value):
    """One validity gate over all runs."""

    gate: str
    judged: int
    """Runs that it judged."""
    fired: int
    """Runs that it made invalid."""
    unknown: int
    nearest: float | None
    """The most of its bound that a run used which passed; at 1 it would have fired. None where the
    bound is no number."""
    example: CheckResult
    """The gate in that run; where there is none, in the first run."""


class NeighbourCost(Value):
    """What a metric is in turns, over what it is of the same deployments by themselves."""

    metric: str
    difference: Estimate
    """Ratio minus one; blocks are paired."""
    uneven: Mapping[str, Estimate] = {}
    """Deployment → the same over that of the baseline and its twin, ratio minus one: what would be
    taken for a difference between platforms. Their intervals hold together. Empty where too few
    blocks tell it."""


class ControlMoment(StrEnum):
    """When the negative control was measured."""

    BEFORE_STAY = "before stay"
    """Before the deployment was there."""
    AFTER_TURN = "after turn"
    """After each of its turns, while no deployment ran."""


class ControlDifference(Value):
    """What no deployment can change, of one deployment against the baseline."""

    control: str
    """`arithmetic` or `loopback`."""
    moment: ControlMoment = ControlMoment.BEFORE_STAY
    deployment: str
    baseline: str
    difference: Estimate

    @property
    def differs(self) -> bool:
        """Whether the simultaneous interval leaves out zero."""
        return self.difference.without_zero


class Parity(Value):
    """Whether the deployments ran the same thing."""

    compared: tuple[str, ...]
    reference: str
    """The deployment against which all others are held."""
    differences: tuple[FoundDifference, ...]
    """Empty when nothing but the factors under study differs."""


class Restored(Value):
    """A snapshot of loaded data that stays started with, instead of putting the records in."""

    made_in: str
    """The stay that put the records in and kept the files; no run is of it."""
    stays: Mapping[str, int]
    """Deployment → how many of its stays started with it."""


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
    conditions: tuple[Conditions, ...] = ()
    """Of every deployment, workload and level."""
    parity: Parity
    planned: int
    valid: int
    invalid: int
    unknown: int
    missing: int
    neighbours: tuple[NeighbourCost, ...] = ()
    """Where load came in turns: what it cost that others lived meanwhile."""
    control: tuple[ControlDifference, ...] = ()
    """The negative control of every deployment; empty in results that have none."""
    gates: tuple[GateSummary, ...] = ()
    """Of every gate: how often it fired, and how near the others came."""
    disturbed: Mapping[str, int] = {}
    """Gate → attempts that it spoilt and that were made again; their records name each."""
    environment: Mapping[str, Scalar]
    skipped: tuple[Skipped, ...]
    """Deployments that could not run here, with the reason."""
    looks: tuple[Look, ...] = ()
    """When blocks were added after earlier ones were seen; the error rate is spent over them."""
    scalability: tuple[Scalability, ...] = ()
    """Of every deployment and workload; empty where the study has fewer than two closed levels."""
    over_levels: tuple[OverLevels, ...] = ()
    """Of every deployment against the study's baseline, where there are several closed levels."""
    variance: tuple[VarianceSplit, ...] = ()
    """Of every headline and asked metric at every workload and level."""
    advice: tuple[QuestionAdvice, ...] = ()
    """One for each question."""
    latency: tuple[LatencyDifference, ...] = ()
    """Of every pair that is compared."""
    timelines: tuple[TimeLine, ...] = ()
    associations: tuple[Association, ...] = ()
    """Of every pair that is compared."""
    absent: tuple[AbsentCounter, ...] = ()
    """Counters and parts of the CPU time that could not be attributed here."""
    calibration: Calibration | None = None
    """What rates are shares of; None where no rate is a share of anything."""
    losses: Mapping[str, KnownLoss] = {}
    """Deployment that shall lose throughput → what is known of its loss."""
    restored: tuple[Restored, ...] = ()
    """Every snapshot that stays started with; empty where every stay put its records in."""
    open_levels: tuple[OpenLevel, ...] = ()
    """What came of every rate, share or number, of every deployment and workload."""
    searches: tuple[SaturationSearch, ...] = ()
    """Every probe of the searches of every deployment and workload, and what they found."""
