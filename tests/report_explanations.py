"""What lies beside the differences of the made-up study: made up too, the same at every call."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from dunnage.model.conditions import Conditions
from dunnage.model.estimate import Estimate
from dunnage.model.explanation import (
    AbsentCounter,
    Association,
    LatencyDifference,
    QuantileDifference,
    TimeLine,
    TimeSeries,
)
from dunnage.model.open_load import OpenLevel, Refusal, SaturationSearch, SearchProbe
from dunnage.model.parity import Factor
from dunnage.model.rungs import Rung, Rungs
from dunnage.model.scalability import (
    FittedPoint,
    Knee,
    LevelPoint,
    OverLevels,
    QuadraticFit,
    Scalability,
    ScalabilityLaw,
    UnderObjective,
)
from dunnage.model.variance import Inseparable, QuestionAdvice, VariancePart, VarianceSplit

THREADS = (1, 2, 4, 8, 16, 32, 64, 128)
QUANTILES = {"p50": 0.5, "p90": 0.9, "p99": 0.99, "p99.9": 0.999, "p99.99": 0.9999}
STARTS = tuple(round(-1 + 0.2 * place, 1) for place in range(25))


def about(value: float, spread: float = 0.02, unit: str = "s", n: int = 8) -> Estimate:
    """An estimate with an interval of `spread` of its value to either side."""
    reach = abs(value) * spread
    return Estimate(
        value=value, low=value - reach, high=value + reach, n=n, unit=unit, method="made up"
    )


def law(threads: float, cost: float) -> float:
    """The Universal Scalability Law with round parameters."""
    return 4000 * (1 - cost) * threads / (1 + 0.04 * (threads - 1) + 2e-4 * threads * (threads - 1))


def scalabilities(costs: Iterable[tuple[str, float]]) -> tuple[Scalability, ...]:
    """Every deployment at eight levels; the cost is the share of throughput that it loses."""
    return tuple(_scalability(name, cost) for name, cost in costs)


def over_levels(costs: Iterable[tuple[str, float]]) -> tuple[OverLevels, ...]:
    """The means over all levels as published, and below the knee."""
    return tuple(
        OverLevels(
            deployment=name,
            baseline="native",
            workload="A",
            metric="throughput",
            mean=20_000 * (1 - cost),
            published=about(-cost or 0.001, 0.2, "share"),
            below_knee=about(-cost / 2 or 0.001, 0.2, "share"),
            levels_below=("t1", "t2", "t4"),
        )
        for name, cost in costs
    )


def _scalability(name: str, cost: float) -> Scalability:
    curve = [(2 ** (step / 4), law(2 ** (step / 4), cost)) for step in range(29)]
    return Scalability(
        deployment=name,
        workload="A",
        levels=tuple(
            LevelPoint(
                level=f"t{n}",
                threads=n,
                throughput=about(law(n, cost), 0.03, "op/s"),
                latency=about(1.3 * n / law(n, cost), 0.05),
            )
            for n in THREADS
        ),
        quadratic=(
            QuadraticFit(
                metric="throughput",
                constant=5000.0,
                linear=900.0,
                quadratic=-5.1,
                r_squared=0.91,
                runs=64,
                points=tuple(
                    FittedPoint(threads=n, value=5000 + 900 * n - 5.1 * n * n) for n, _ in curve
                ),
            ),
        ),
        law=ScalabilityLaw(
            rate=about(4000 * (1 - cost), 0.03, "op/s"),
            contention=about(0.04, 0.1, ""),
            coherency=about(2e-4, 0.2, ""),
            peak_threads=about(69.3, 0.1, "threads"),
            peak_throughput=about(law(69.3, cost), 0.02, "op/s"),
            extrapolated=False,
            r_squared=0.99,
            points=tuple(
                FittedPoint(threads=n, value=v, low=v * 0.95, high=v * 1.05) for n, v in curve
            ),
            notes=("Growth is below linear from the start.",),
        ),
        knee=Knee(threads=about(16.0, 0.1, "threads"), below=("t1", "t2", "t4", "t8", "t16")),
        under_objectives=(
            UnderObjective(
                metric="service.p95",
                objective=0.002,
                throughput=about(law(32, cost), 0.02, "op/s"),
                at_least=False,
            ),
        ),
        refused=("Nothing within 0.1 ms: no level keeps it.",),
    )


def latencies(names: Sequence[str], workloads: Sequence[str]) -> tuple[LatencyDifference, ...]:
    """Differences that grow towards the tail."""
    return tuple(
        LatencyDifference(
            deployment=name,
            baseline="native",
            workload=workload,
            level="t32",
            kind="service",
            quantiles=tuple(
                QuantileDifference(
                    quantile=quantile,
                    share=share,
                    difference=about(0.02 * (place + 1) * (number + 1), 0.4, "share"),
                )
                for place, (quantile, share) in enumerate(QUANTILES.items())
            ),
            left_out={"p99.999": "fewer than ten operations beyond it"},
        )
        for number, name in enumerate(names)
        for workload in workloads
    )


def timelines(names: Sequence[str], workloads: Sequence[str]) -> tuple[TimeLine, ...]:
    """A warm-up, a flat run, one dip, and an interval that nobody knows."""
    return tuple(
        TimeLine(
            deployment=name,
            workload=workload,
            level="t32",
            step=0.2,
            starts=STARTS,
            runs=8,
            series=(
                _series("throughput", "op/s", 48_000 * (1 - 0.05 * number)),
                _series("service.p95", "s", 0.0012 * (1 + 0.05 * number)),
                _series("cpu.database", "processors", 0.93),
                _series("network.database", "B/s", 61e6),
                _series("memory.database", "B", 130e6),
            ),
            absent={"disk.database": "no block device is told by this control group"},
        )
        for number, name in enumerate(names)
        for workload in workloads
    )


def _series(name: str, unit: str, value: float) -> TimeSeries:
    shape = [min(1.0, 0.3 + 0.2 * place) * (1 + 0.03 * math.sin(place)) for place in range(25)]
    shape[14] *= 0.7
    known = [None if place == 20 else value * factor for place, factor in enumerate(shape)]
    return TimeSeries(
        name=name,
        unit=unit,
        median=tuple(known),
        low=tuple(None if point is None else point * 0.93 for point in known),
        high=tuple(None if point is None else point * 1.06 for point in known),
    )


def variances(metrics: Sequence[str], workloads: Sequence[str]) -> tuple[VarianceSplit, ...]:
    """Three parts for each metric and workload."""
    parts = {"block": 0.55, "stay": 0.3, "run": 0.15}
    return tuple(
        VarianceSplit(
            metric=metric,
            workload=workload,
            level="t32",
            parts=tuple(
                VariancePart(
                    part=part,
                    variance=about(4e-4 * share, 0.5, ""),
                    spread=math.expm1(math.sqrt(4e-4 * share)),
                    share=share,
                    truncated=False,
                )
                for part, share in parts.items()
            ),
            deployments=("native", "native-twin"),
            blocks=8,
            absent=(Inseparable.NO_REPEAT,),
        )
        for metric in metrics
        for workload in workloads
    )


def advices(questions: Iterable[tuple[str, int, int]]) -> tuple[QuestionAdvice, ...]:
    """(question, comparisons, settled): what would settle the open ones."""
    return tuple(
        QuestionAdvice(
            question=name,
            comparisons=comparisons,
            settled=settled,
            more_blocks=0 if settled == comparisons else 26,
            unsettled=(),
            seconds=5400.0,
            detectable=0.021,
            short=False,
            repeat_helps=settled < comparisons,
        )
        for name, comparisons, settled in questions
    )


def associations(names: Sequence[str]) -> tuple[Association, ...]:
    """Counters with and without a clear difference, one with nothing on the baseline's side."""
    rows = (
        ("packets", "Packets", "packets/op", False, 3.1, 1.2),
        ("softirq", "Soft interrupts", "share", True, 0.12, 0.06),
        ("switches", "Context switches", "switches/op", False, 0.4, 0.01),
        ("retransmits", "Retransmissions", "packets/op", False, 0.0, 0.2),
        ("throttled", "Throttled by a quota", "s/op", False, 0.0, 0.0),
    )
    return tuple(
        Association(
            deployment=name,
            baseline="native",
            workload="A",
            level="t32",
            counter=counter,
            title=title,
            unit=unit,
            machine=machine,
            baseline_value=about(base, 0.02, unit),
            value=about(base + difference, 0.02, unit),
            difference=about(difference, 0.3 if difference > 0.02 else 4.0, unit),
        )
        for name in names
        for counter, title, unit, machine, base, difference in rows
    )


def searches(names: Iterable[str]) -> tuple[SaturationSearch, ...]:
    """A search in each of two blocks; every deployment sustains less than the one before it."""
    return tuple(
        SaturationSearch(
            deployment=name,
            workload="A",
            level="search",
            found=about(most, 0.02, "op/s"),
            searches=2,
            precision=0.05,
            objective={"response.p99": 0.01},
            probes=tuple(
                _probe(f"b{block:02d}-{name}-A-search", block, offered, most)
                for block in (1, 2)
                for offered in (20_000.0, 44_000.0, 30_000.0, most, most * 1.04, most * 1.04)
            ),
        )
        for name, most in _sustained(names)
    )


def open_levels(names: Iterable[str]) -> tuple[OpenLevel, ...]:
    """Two shares of a capacity, the larger of which is too much for some."""
    return tuple(
        OpenLevel(
            deployment=name,
            workload="A",
            level=level,
            offered=about(rate, 0.001, "op/s"),
            throughput=about(min(rate, most), 0.01, "op/s"),
            achieved=about(min(1.0, most / rate), 0.01, "share"),
            runs=8,
            over_capacity=6 if rate > most else 0,
            seconds=4.0,
            growth=1 - most / rate if rate > most else None,
            lag=4 * (1 - most / rate) if rate > most else None,
        )
        for level, rate in (("s40", 16_000.0), ("s90", 36_000.0))
        for name, most in _sustained(names)
    )


def _sustained(names: Iterable[str]) -> list[tuple[str, float]]:
    """(deployment, the rate that it sustains)."""
    return [(name, 40_000.0 - 3_000 * number) for number, name in enumerate(names)]


def _probe(run: str, block: int, offered: float, most: float) -> SearchProbe:
    sustained = offered <= most
    return SearchProbe(
        run=run,
        block=block,
        offered=offered,
        achieved=min(offered, most),
        p99=0.002 if sustained else 0.3 * offered / most,
        sustained=sustained,
        refusals=() if sustained else (Refusal(what="achieved", value=most / offered),),
    )


def rungs(names: Sequence[str], workloads: Sequence[str]) -> tuple[Rungs, ...]:
    """Steps up and down; in workload A one step has fewer blocks, in C one is not known."""
    return tuple(
        _ladder(names, workload, metric, first)
        for workload in workloads
        for metric, first in (("service.mean", 662e-6), ("cpu.database", 18e-6))
    )


def _ladder(names: Sequence[str], workload: str, metric: str, first: float) -> Rungs:
    costs = [first * (0.05 if place % 2 else -0.02) for place in range(1, len(names))]
    steps = [
        Rung(
            baseline=baseline,
            deployment=name,
            factors=(Factor(key="network", baseline="host", deployment="bridge"),),
            difference=about(cost, 0.3, "s/op"),
        )
        for baseline, name, cost in zip(names, names[1:], costs, strict=False)
    ]
    if workload == "C":
        costs[1] = 0.0
        unknown = Estimate(value=0, low=None, high=None, n=0, unit="s/op", method="made up")
        steps[1] = steps[1].model_copy(update={"difference": unknown})
    rest = 0.0 if workload == "A" and metric == "service.mean" else first * 0.03
    whole = about(math.fsum(costs) + rest, 0.2, "s/op")
    return Rungs(
        workload=workload,
        level="t32",
        metric=metric,
        first=about(first, unit="s/op"),
        steps=tuple(steps),
        whole=Rung(
            baseline=names[0], deployment=names[-1], factors=steps[-1].factors, difference=whole
        ),
        unexplained=rest,
        left_out=("docker-noisy",) if workload == "C" else (),
    )


CONDITIONS = tuple(
    Conditions(
        deployment=name,
        workload=workload,
        level="t32",
        runs=8,
        throttled=0.0,
        swap=0.0,
        resident=38e6,
        cache=size,
        memory_limit=2.0**30,
        charged=0.04,
        daemons_share=0.011,
        absent={"daemons": "the sampler saw no daemon"},
    )
    for name in ("native", "docker-bridge")
    for workload, size in (("A", 8192.0), ("C", 65536.0))
)
"""What the kernel held back."""

ABSENT = (
    AbsentCounter(
        name="soft interrupts",
        reason="lab hosts share the machine's counters",
        hosts=("db-1", "db-2", "db-3"),
    ),
)
"""What could not be measured."""
