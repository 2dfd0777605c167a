"""How a deployment's throughput and latency grow with the threads of a closed loop."""

from __future__ import annotations

from dunnage.model.estimate import Estimate
from dunnage.model.value import Value


class LevelPoint(Value):
    """One measured level, over blocks."""

    level: str
    threads: int
    throughput: Estimate | None
    """Operations per second; None when no valid run has it."""
    latency: Estimate | None
    """95th percentile of service time in seconds; None when no valid run has it."""


class FittedPoint(Value):
    """One point of a fitted curve; `low` and `high` are its band, None where it has none."""

    threads: float
    value: float
    low: float | None = None
    high: float | None = None


class QuadraticFit(Value):
    """Least squares of `constant + linear·N + quadratic·N²` over runs, as published (cloud18).

    N is the number of threads; coefficients and points are in the metric's SI unit. It describes
    the runs and takes them as independent, so it has no interval.
    """

    metric: str
    """`throughput`, `service.p95`, `read.service.p95`, …"""
    constant: float
    linear: float
    quadratic: float
    r_squared: float | None
    """Share of the variance over runs that it explains; None when there is none to explain."""
    runs: int
    points: tuple[FittedPoint, ...]


class ScalabilityLaw(Value):
    """Universal Scalability Law: throughput = λN / (1 + σ(N−1) + κN(N−1)) (Gunther 1993, 2007).

    Non-linear least squares on the logs of throughput; bands by a bootstrap over blocks.
    """

    rate: Estimate
    """λ: operations per second of one thread."""
    contention: Estimate
    """σ, without unit: share of the work that must queue."""
    coherency: Estimate
    """κ, without unit: cost of keeping each pair of threads consistent. At 0 there is no peak."""
    peak_threads: Estimate | None
    """N* = √((1−σ)/κ), where throughput is highest; None where κ is 0. `high` is None where the
    band of κ reaches 0: the peak may then be anywhere above `low`."""
    peak_throughput: Estimate | None
    """Operations per second at N*; None where `peak_threads` is None."""
    extrapolated: bool
    """Whether N* is beyond the measured levels, so it was not measured."""
    r_squared: float | None
    """Of the logs of the levels' throughputs; None when they do not differ."""
    points: tuple[FittedPoint, ...]
    """Throughput over threads with its band, from the first to the last measured level."""
    notes: tuple[str, ...] = ()
    """What a reader must know, each a sentence: a parameter at its bound, growth beyond linear."""


class Knee(Value):
    """Where more threads stop helping: N at which growth at the lightest level's rate per thread
    would reach the highest throughput (the asymptotic bounds of operational analysis; Denning and
    Buzen 1978)."""

    threads: Estimate
    below: tuple[str, ...]
    """Levels at or below it; the others are saturated."""


class UnderObjective(Value):
    """Highest throughput of a closed loop whose latency stays within an objective.

    By monotone fits over threads in each block: latency never falls, throughput is the highest at
    any level that keeps the objective.
    """

    metric: str
    """The latency that the objective is about: `service.p95`."""
    objective: float
    """Seconds; rounded, and inside the range that all deployments of the workload have."""
    throughput: Estimate | None
    """Operations per second; None where no measured level keeps the objective."""
    at_least: bool
    """Whether even the heaviest level keeps the objective, so that more may be possible."""


class Scalability(Value):
    """One deployment and workload over the closed-loop levels of the study, lightest first."""

    deployment: str
    workload: str
    levels: tuple[LevelPoint, ...]
    quadratic: tuple[QuadraticFit, ...]
    """Empty below four levels: a parabola goes through any three."""
    law: ScalabilityLaw | None
    knee: Knee | None
    under_objectives: tuple[UnderObjective, ...]
    """Lightest objective first."""
    refused: tuple[str, ...] = ()
    """Each a sentence: what was not computed here and why, such as a law below six levels."""


class OverLevels(Value):
    """One deployment against its baseline over all closed-loop levels of a workload."""

    deployment: str
    baseline: str
    workload: str
    metric: str
    mean: float
    """Arithmetic mean of the levels' values as published (cloud18), in the metric's SI unit. It
    overweights the saturated levels, where values are largest."""
    published: Estimate
    """Ratio of the two means minus one, paired over blocks: as published."""
    below_knee: Estimate | None
    """Ratio minus one at the levels that neither side has saturated (mean of the log ratios, paired
    over blocks): what the deployment costs where it still scales. Exploratory and without interval,
    as the levels were found in the same runs. None without a knee."""
    levels_below: tuple[str, ...]
    """The levels that `below_knee` is about."""
