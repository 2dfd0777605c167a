"""Studies with many levels, from records to curves: the law, the knee, what a level costs."""

from __future__ import annotations

import math

import numpy as np
import pytest
from analysis_cases import WORKLOAD, deployment, latency, measurement
from analysis_study import STUDY, record

from dunnage.findings.analyse import analyse
from dunnage.findings.scalability.law import Law
from dunnage.model.analysis import Analysis
from dunnage.model.level import Level
from dunnage.model.look import Look
from dunnage.model.plan import Block, Plan, RunPlan, StayPlan
from dunnage.model.record import OperationStats, Record
from dunnage.model.scalability import OverLevels, Scalability

NATIVE, DOCKER = Law(10_000, 0.05, 0.0004), Law(8_000, 0.05, 0.0009)
LAWS = {"native": NATIVE, "twin": NATIVE, "docker": DOCKER}
DEPLOYMENTS = (
    deployment("native"),
    deployment("twin", twin_of="native"),
    deployment("docker", platform="docker"),
)
EIGHT = (1, 2, 4, 8, 16, 32, 64, 128)


def plan(levels: tuple[int, ...], blocks: int = 6) -> Plan:
    made = []
    position = 0
    for block in range(1, blocks + 1):
        stays = []
        for each in DEPLOYMENTS:
            runs = []
            for threads in levels[::-1]:
                level = Level(threads=threads)
                runs.append(
                    RunPlan(
                        id=f"b{block}-{each.name}-{level.name}",
                        block=block,
                        deployment=each.name,
                        workload=WORKLOAD,
                        level=level,
                        repeat=1,
                        position=position,
                        seed=position,
                    )
                )
                position += 1
            stay = f"b{block}-{each.name}"
            stays.append(StayPlan(id=stay, block=block, deployment=each.name, runs=tuple(runs)))
        made.append(Block(index=block, stays=tuple(stays)))
    return Plan(study="made-up", seed=1, deployments=DEPLOYMENTS, blocks=tuple(made))


def records(planned: Plan, noise: float = 0.01) -> list[Record]:
    """Throughput by each deployment's law, and latency = threads / throughput (Little)."""
    chance = np.random.default_rng(4)
    made = []
    for run in planned.runs():
        threads = run.level.threads or 1
        rate = LAWS[run.deployment].throughput(threads)
        rate *= math.exp(chance.normal(0, noise) + 0.05 * (run.block % 3))
        times = latency(threads / rate / 0.003)
        stats = OperationStats(count=round(rate * 4), errors={}, service=times, response=None)
        made.append(
            record(
                run=run.id,
                stay=f"b{run.block}-{run.deployment}",
                block=run.block,
                deployment=run.deployment,
                level=run.level,
                position=run.position,
                measurement=measurement(operations={"all": stats, "read": stats}),
                usage=(),
            )
        )
    return made


def analysed(levels: tuple[int, ...], blocks: int = 6, seen: tuple[Look, ...] = ()) -> Analysis:
    planned = plan(levels, blocks)
    return analyse(STUDY, planned, records(planned), (), {}, lambda _: None, looks=seen)


def of(analysis: Analysis, name: str) -> Scalability:
    return next(each for each in analysis.scalability if each.deployment == name)


def over(analysis: Analysis, metric: str) -> OverLevels:
    (found,) = [
        each
        for each in analysis.over_levels
        if (each.deployment, each.metric) == ("docker", metric)
    ]
    return found


def test_each_deployments_law_comes_back_from_its_records() -> None:
    analysis = analysed(EIGHT)
    for name, true in LAWS.items():
        found = of(analysis, name).law
        assert found is not None and found.contention.low is not None
        assert found.contention.high is not None
        assert found.contention.low <= true.contention <= found.contention.high
        assert found.coherency.value == pytest.approx(true.coherency, rel=0.15)
        assert found.peak_threads is not None
        assert found.peak_threads.value == pytest.approx(true.peak, rel=0.1)
        assert found.points[0].threads == 1 and found.points[-1].threads == 128
    assert of(analysis, "native").refused == ()


def test_points_stand_in_order_of_threads_whatever_order_they_ran_in() -> None:
    found = of(analysed(EIGHT), "native")
    assert tuple(point.threads for point in found.levels) == EIGHT
    assert all(point.throughput and point.throughput.low for point in found.levels)
    assert {fit.metric for fit in found.quadratic} == {
        "throughput",
        "service.p95",
        "read.service.p95",
    }
    assert {fit.runs for fit in found.quadratic} == {48}


@pytest.mark.parametrize(
    ("levels", "refused"),
    [
        ((1, 2), ("quadratic", "Law", "knee", "objective")),
        ((1, 2, 4), ("quadratic", "Law")),
        ((1, 2, 4, 8, 16), ("Law",)),
    ],
)
def test_too_few_levels_refuse_what_they_cannot_carry_and_say_so(
    levels: tuple[int, ...], refused: tuple[str, ...]
) -> None:
    found = of(analysed(levels), "docker")
    assert found.law is None
    assert len(found.refused) == len(refused)
    for word, sentence in zip(refused, found.refused, strict=True):
        assert word in sentence and f"there are {len(levels)}." in sentence


def test_one_level_has_no_scalability_at_all() -> None:
    analysis = analysed((8,))
    assert analysis.scalability == () and analysis.over_levels == ()


def test_the_published_mean_over_levels_stands_beside_what_holds_below_the_knee() -> None:
    found = over(analysed(EIGHT), "service.p95")
    means = {name: sum(n / LAWS[name].throughput(n) for n in EIGHT) / len(EIGHT) for name in LAWS}
    assert found.published.value == pytest.approx(means["docker"] / means["native"] - 1, rel=0.05)
    assert found.below_knee is not None
    assert found.levels_below == ("t1", "t2", "t4", "t8")
    true = [DOCKER.throughput(n) / NATIVE.throughput(n) for n in (1, 2, 4, 8)]
    assert found.below_knee.value == pytest.approx(
        math.exp(-sum(math.log(ratio) for ratio in true) / 4) - 1, rel=0.1
    )
    assert found.published.value > 2 * found.below_knee.value
    assert found.published.n == 6 and found.published.low is not None
    assert (found.below_knee.low, found.below_knee.high) == (None, None)
    assert "exploratory, no interval" in found.below_knee.method


def test_the_published_mean_has_the_interval_of_its_look() -> None:
    again = Look(time=0.0, plan=2, complete=6, planned=6, added=6)
    first = over(analysed(EIGHT), "throughput").published
    second = over(analysed(EIGHT, seen=(again,)), "throughput").published
    assert second.value == first.value
    assert second.level == pytest.approx(0.9875)
    assert "look 2 at 98.75 %" in second.method
    assert first.low is not None and second.low is not None
    assert second.low < first.low


def test_throughput_within_an_objective_is_lower_where_latency_is_higher() -> None:
    analysis = analysed(EIGHT)
    native, docker = (of(analysis, name).under_objectives for name in ("native", "docker"))
    assert [each.objective for each in native] == [each.objective for each in docker]
    both = [
        (a.throughput.value, b.throughput.value)
        for a, b in zip(native, docker, strict=True)
        if a.throughput and b.throughput
    ]
    assert len(both) >= 4 and all(a > b for a, b in both)


def test_every_number_of_a_study_of_levels_is_the_same_every_time() -> None:
    assert analysed(EIGHT).model_dump_json() == analysed(EIGHT).model_dump_json()
