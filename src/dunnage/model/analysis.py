"""What analysis makes of the records. A number never travels alone."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from dunnage.model.accounting import Accounting
from dunnage.model.calibration import Calibration
from dunnage.model.check import CheckResult
from dunnage.model.conditions import Conditions
from dunnage.model.control import ControlDifference, NeighbourCost
from dunnage.model.damage import Damage
from dunnage.model.estimate import Estimate
from dunnage.model.explanation import AbsentCounter, Association, LatencyDifference, TimeLine
from dunnage.model.look import Look
from dunnage.model.loss import KnownLoss
from dunnage.model.open_load import OpenLevel, SaturationSearch
from dunnage.model.parity import Difference, Factor, FoundDifference
from dunnage.model.plan import Skipped
from dunnage.model.remarks import Managed, Moving, NetworkChanged, Restarted, Restored, RulesLeft
from dunnage.model.rungs import Rungs
from dunnage.model.scalability import OverLevels, Scalability
from dunnage.model.value import Condition, Scalar, Value
from dunnage.model.variance import QuestionAdvice, VarianceSplit

ANALYSIS_VERSION = 14
"""1: first. 2: scalability, variance, advice, quantile differences, time lines, associations.
3: searches and open levels; `under_objectives` of scalability had another name.
4: families are the primary comparisons of one question, and twins no longer make an edge: `apart`
took the place of `bound`. 5: gates, differences, factors, what was skipped, and why a
verdict is what it is are values. 6: so are why parts of a variance are not told apart, and why a
probe was refused; a reading tells member and host apart. 7: whether numbers are invented, and
damaged files; the baseline's mean over levels, which nothing read, is gone. 8: a twin
that was left out, files that this user may not read, and metrics that are absent with the reason.
9: `damaged`, a ground of verdicts. 10: stays in which programs of a lab's Kubernetes were
restarted. 11: deployments whose throughput moves by itself; runs of these are steady. 12:
they are told by blocks, and no longer by runs. 13: `accounting` of soft interrupts took the place
of `contained`; soft interrupts of the machine that are no host's; runs that were left out on each
side of a comparison, `thinned`, deployments whose manager is busy by itself, whose runs count, and
rules for packets that stay. 14: ways to members among differences, platforms as
sides of `thinned`, and deployments whose network changed between their stays.
"""


class Verdict(StrEnum):
    """The result of a comparison."""

    EQUIVALENT = "equivalent"
    OVERHEAD = "overhead"
    GAIN = "gain"
    INCONCLUSIVE = "inconclusive"


class Ground(StrEnum):
    """The reason for a verdict."""

    INSIDE = "inside"
    """The interval is inside the tolerance."""
    BEYOND = "beyond"
    """The interval is beyond the tolerance."""
    ACROSS = "across"
    """The interval includes an edge of the tolerance; more blocks would decide."""
    ON_AN_EDGE = "on an edge"
    """The estimate is on an edge of the tolerance; more blocks do not help."""
    TWINS_TOO_FAR = "twins too far"
    """Identical deployments differ by more than the tolerance."""
    TOO_FEW_BLOCKS = "too few blocks"
    TOO_FEW_TWINS = "too few twins"
    """Too few blocks have both twins."""
    NO_TWIN = "no twin"
    TWIN_LEFT_OUT = "twin left out"
    """The study has a twin, and it was not part of this run."""
    NO_BOUND = "no bound"
    """One of two results has no twins here, or too few blocks with both."""
    TWINS_OVERLOADED = "twins overloaded"
    """A twin could not keep up with the load, so its latencies are not comparable."""
    OVERLOADED = "overloaded"
    """A side of the comparison could not keep up with the load."""
    NEIGHBOURS = "neighbours"
    """Deployments that run together slow each other down by more than the tolerance."""
    DAMAGED = "damaged"
    """A file that verdicts come from, such as the study, is not as it was written."""
    THINNED = "thinned"
    """Runs of one side were left out more often than those of the other, by more than chance."""


CLAIMING = frozenset(
    {Ground.INSIDE, Ground.BEYOND, Ground.ACROSS, Ground.ON_AN_EDGE, Ground.TWINS_TOO_FAR}
)
"""Grounds that come from the interval. With the others nothing is claimed."""


class Overload(Value):
    """A deployment that could not keep up with an open load."""

    deployment: str
    over: int
    """Valid runs over capacity."""
    runs: int
    """Valid runs."""
    least: float | None
    """Lowest share of the offered operations that was answered."""


class LeftOut(Value):
    """Runs of a deployment that do not count, of those planned in blocks that were begun."""

    deployment: str
    runs: int
    of_runs: int
    blocks: int
    """Blocks with such a run."""
    of_blocks: int
    gates: Mapping[str, int] = {}
    """Gate → runs that it left out, also `parity` and `missing`, for runs that did not happen. A
    run that several left out is counted under each."""


class Thinned(Value):
    """Both sides of a comparison, over all workloads and levels at which both have valid runs."""

    deployment: LeftOut
    baseline: LeftOut
    platforms: bool = False
    """Whether each side is all deployments of its platform together, and is called like that. Then
    a block counts once for each of them."""
    chance: float
    """Probability that sides alike differ so much in the blocks with a run that was left out."""


class Comparison(Value):
    """One deployment against its baseline for one metric, workload and level."""

    question: str | None
    """Question that it answers; None if it is exploratory."""
    primary: bool
    """Whether it decides that question. Its interval then holds together with those of the other
    primary comparisons. Secondary and exploratory ones have their own interval."""
    deployment: str
    baseline: str
    metric: str
    workload: str
    level: str
    difference: Estimate
    """Ratio minus one: +0.05 is 5 % more of the metric, whichever direction is better."""
    by_block: tuple[float, ...]
    """The difference in each complete block, in the order of the blocks."""
    family: int
    """Number of comparisons whose intervals hold together, this one included."""
    hodges_lehmann: float | None
    """The same difference by the median of pairwise means: a check on outliers."""
    apart: float | None
    """By how much identical deployments surely differ here: 0 if the twins' interval includes zero,
    else its end nearest to zero. None without a twin or with too few blocks."""
    tolerance: float
    verdict: Verdict
    blocks_needed: int | None
    """Total blocks that would decide an inconclusive verdict; None otherwise."""
    detectable: float | None
    """Smallest difference that these blocks would have found with a power of 80 %."""
    ground: Ground
    """Why this verdict."""
    twins: bool = False
    """Whether it compares the twins. They are judged by the tolerance alone, so they can fail."""
    twin_blocks: int | None = None
    """Blocks with both twins; None without twins."""
    overloads: tuple[Overload, ...] = ()
    """Overloads of the sides or the twins, if that is the ground."""
    neighbours: float | None = None
    """Neighbours change the metric by at least this much, if that is the ground."""
    left_out: tuple[LeftOut, ...] = ()
    """Runs of the deployment and of the baseline that do not count, at this workload and level."""
    thinned: Thinned | None = None
    """By how much the two sides differ in what was left out, if that is the ground."""

    @property
    def withheld(self) -> bool:
        """Whether nothing is claimed, for a reason other than the interval."""
        return self.ground not in CLAIMING


class Summary(Condition):
    """One deployment, workload, level and metric, over blocks."""

    metric: str
    estimate: Estimate


class QuestionAnswer(Value):
    """One question of the study and its evidence."""

    question: str
    comparisons: tuple[Comparison, ...]
    factors: Mapping[str, tuple[Factor, ...]]
    """Deployment compared → factors in which it differs from the baseline."""
    differences: Mapping[str, tuple[Difference, ...]]
    """Deployment compared → differences found by parity that are not factors under study."""
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
    """Most likely position of a shift of the residuals; None without evidence of a shift."""
    place: float | None = None
    """p of an F test: does the place in a block matter, given deployment, block and predecessor?"""
    predecessor: float | None = None
    """p of an F test: does the preceding deployment matter?"""


class RunSummary(Value):
    """One run and the values of its metrics, for tables and CSV."""

    run: str
    stay: str
    """Empty if its files are damaged."""
    block: int
    deployment: str
    workload: str
    level: str
    position: int
    status: str
    values: Mapping[str, float]
    absent: Mapping[str, str] = {}
    """Metric that it lacks because a counter could not be read → the reason."""
    checks: tuple[CheckResult, ...] = ()
    """Gates that the run did not pass. What nobody sees stands against no run."""
    differences: tuple[Difference, ...] = ()
    """Differences of its stay found by parity that no factor under study explains."""
    paused: float | None = None
    """Share of the measured time in which a declared slowdown really stopped the servers."""
    over_capacity: bool = False
    """The deployment could not keep up with the open load: its latencies are not compared."""
    sampler_cpu: float | None = None
    """CPU seconds of all hosts' samplers in the measured window; None where one is unknown."""
    trend: float | None = None
    """Throughput of the last third of the measured window over the first, minus one; None in a load
    phase and where windows are too few."""


class AbsentMetric(Condition):
    """A metric that no valid run of a deployment has at a workload and level."""

    metric: str
    reason: str
    """Why, as words that may follow a colon."""


class LatencyCurve(Condition):
    """Merged latency distribution of one deployment, workload and level, over its valid runs."""

    kind: str
    """`service` or `response`."""
    points: tuple[tuple[float, float], ...]
    """(quantile as a share of one, seconds), up to p99.99 and up to 1 − 10/count: a quantile needs
    at least ten slower operations. Evenly spaced on the logarithm of the tail."""
    count: int
    maximum: float | None = None
    """Time of the slowest operation, in seconds."""


class Share(Condition):
    """One part of a deployment's CPU time per operation."""

    part: str
    """`server user`, `server system`, `daemons`, `other`, `client`. If all hosts are one machine,
    also `outside`: CPU time in no host's control group, which is not part of `cpu.database`. If
    measurable, also `soft interrupts`, of hosts that are machines. If the study asks for them on
    one machine, also `network soft interrupts, WHERE` and `soft interrupts of other kinds`. WHERE
    their packets arrived is `client`, the name of a database host, `bridge`, `elsewhere` on the
    machine, or `no packet`."""
    seconds_per_operation: float
    """Arithmetic mean over blocks."""
    estimate: Estimate | None = None
    """Estimate with its interval over blocks, in s/op."""
    difference: Estimate | None = None
    """Value minus the baseline's, paired over blocks, in s/op; None for the baseline."""
    accounting: Accounting | None = None
    """For soft interrupts, where the kernel counts their time: `contained` in the other parts,
    `beside` the CPU time of all hosts, or `unknown`. They must not be added to the other parts:
    `outside` has those that are `beside`. None for parts that add up to all the CPU time."""


class GateSummary(Value):
    """One validity gate over all runs."""

    gate: str
    judged: int
    """Runs that it judged."""
    fired: int
    """Runs that it made invalid."""
    unknown: int
    nearest: float | None
    """Largest share of the bound in a run that passed; at 1 the gate fires. None if the bound is
    not a number."""
    example: CheckResult
    """The gate in that run; without one, in the first run."""
    unseen_runs: int = 0
    """Runs, of those in `unknown`, in which nobody sees what it judges. They count all the same."""
    unseen: tuple[str, ...] = ()
    """Why nobody sees it in these runs."""


class Parity(Value):
    """Whether all deployments ran the same software and settings."""

    compared: tuple[str, ...]
    reference: str
    """The deployment with which the others are compared."""
    differences: tuple[FoundDifference, ...]
    """Empty if only the factors under study differ."""


class Analysis(Value):
    """Everything that the report shows: a pure function of the result directory."""

    version: int = ANALYSIS_VERSION
    study: str
    invented: bool = False
    """Whether hosts are fakes, so that nothing was measured."""
    answers: tuple[QuestionAnswer, ...]
    comparisons: tuple[Comparison, ...]
    """Headline metrics of every deployment against the study's baseline, exploratory ones too."""
    twin: tuple[Comparison, ...]
    """The twin against its original: the A/A evidence."""
    summaries: tuple[Summary, ...]
    absent_metrics: tuple[AbsentMetric, ...] = ()
    """What stands in the place of a summary."""
    order: tuple[OrderDiagnosis, ...]
    runs: tuple[RunSummary, ...]
    curves: tuple[LatencyCurve, ...]
    shares: tuple[Share, ...]
    conditions: tuple[Conditions, ...] = ()
    """For every deployment, workload and level."""
    parity: Parity
    planned: int
    valid: int
    invalid: int
    unknown: int
    missing: int
    neighbours: tuple[NeighbourCost, ...] = ()
    """Cost of neighbours, for load in turns."""
    control: tuple[ControlDifference, ...] = ()
    """The negative control of every deployment; empty in results without one."""
    gates: tuple[GateSummary, ...] = ()
    """How often each gate fired, and how near the other runs came."""
    disturbed: Mapping[str, int] = {}
    """Gate → attempts that failed it and were repeated. The records list each."""
    environment: Mapping[str, Scalar]
    skipped: tuple[Skipped, ...]
    """Deployments that could not run here, with the reason."""
    damages: tuple[Damage, ...] = ()
    """Files that are not as they were written."""
    looks: tuple[Look, ...] = ()
    """Looks at earlier blocks after which blocks were added. The error rate is spent over them."""
    scalability: tuple[Scalability, ...] = ()
    """For every deployment and workload; empty with fewer than two levels of a closed loop."""
    over_levels: tuple[OverLevels, ...] = ()
    """For every deployment against the baseline, with several levels of a closed loop."""
    variance: tuple[VarianceSplit, ...] = ()
    """For every headline metric and metric of a question, at every workload and level."""
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
    """The capacity of the baseline; None if no rate is a share of it."""
    losses: Mapping[str, KnownLoss] = {}
    """Deployment with a `loss` → its measured loss."""
    restored: tuple[Restored, ...] = ()
    """Every snapshot with which stays started; empty if every stay loaded its records."""
    restarted: tuple[Restarted, ...] = ()
    """Every stay in which programs of a lab's Kubernetes were restarted."""
    rules_left: tuple[RulesLeft, ...] = ()
    """Every deployment on whose hosts rules made for frozen substrates are in force."""

    """Every deployment that stands on no substrate, where others' rules are in force."""
    networks_changed: tuple[NetworkChanged, ...] = ()
    """Every deployment whose network was not the same in all its stays."""
    moving: tuple[Moving, ...] = ()
    """Every deployment whose throughput moves by itself."""
    managed: tuple[Managed, ...] = ()
    """Every deployment whose orchestrator's manager is busy by itself."""
    open_levels: tuple[OpenLevel, ...] = ()
    """Results of every rate, share or number, for every deployment and workload."""
    searches: tuple[SaturationSearch, ...] = ()
    """Results and probes of the searches, for every deployment and workload."""
    rungs: tuple[Rungs, ...] = ()
    """For every workload, level and metric with values of at least three deployments."""
