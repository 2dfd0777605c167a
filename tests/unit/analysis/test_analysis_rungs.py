"""Known costs per operation come back rung by rung, and what is not known is not made up."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence

import pytest
from analysis_cases import CLOSED, OPEN, WORKLOAD, deployment, host, latency, measurement
from analysis_study import STUDY, record
from hypothesis import given, settings
from hypothesis import strategies as st

from dunnage.analysis.gather import gather
from dunnage.findings.differences.comparisons import Comparisons
from dunnage.findings.differences.scope import Scope
from dunnage.findings.rungs import rungs as room
from dunnage.model.check import Status
from dunnage.model.deployment import Deployment
from dunnage.model.level import Level
from dunnage.model.plan import Block, Plan, RunPlan, StayPlan
from dunnage.model.record import OperationStats, Record, Usage
from dunnage.model.rungs import Rungs

DEPLOYMENTS = (
    deployment("overlay", platform="docker", network="overlay"),
    deployment("native"),
    deployment("native-twin", twin_of="native"),
    deployment("host", platform="docker", network="host"),
    deployment("bridge", platform="docker", network="bridge"),
)
"""As a study may have them: not the baseline first."""
COST = {
    "native": (500e-6, 20e-6, 9e-6),
    "native-twin": (500e-6, 20e-6, 9e-6),
    "host": (498e-6, 21e-6, 9e-6),
    "bridge": (560e-6, 27e-6, 9.5e-6),
    "overlay": (610e-6, 35e-6, 9.5e-6),
}
"""Deployment → service time, CPU time of database hosts, CPU time of the client, in s/op."""
COUNT = 4000
Shaken = Callable[[str, int], float]


def planned(
    blocks: int = 8, known: Sequence[Deployment] = DEPLOYMENTS, level: Level = CLOSED
) -> Plan:
    made = []
    for block in range(1, blocks + 1):
        stays = []
        for place, each in enumerate(known):
            run = RunPlan(
                id=f"b{block}-{each.name}",
                block=block,
                deployment=each.name,
                workload=WORKLOAD,
                level=level,
                repeat=1,
                position=block * len(known) + place,
                seed=1,
            )
            stays.append(StayPlan(id=run.id, block=block, deployment=each.name, runs=(run,)))
        made.append(Block(index=block, stays=tuple(stays)))
    return Plan(study="made-up", seed=1, deployments=tuple(known), blocks=tuple(made), skipped=())


def slow_blocks(name: str, block: int) -> float:
    """Blocks differ, alike for all deployments: pairing takes it out."""
    return 30e-6 * (block % 3)


def one(run: RunPlan, shaken: Shaken) -> Record:
    service, database, client = COST[run.deployment]
    more = shaken(run.deployment, run.block)
    times = latency(count=COUNT).model_copy(update={"mean": service + more})
    stats = OperationStats(count=COUNT, errors={}, service=times, response=None)
    return record(
        run=run.id,
        stay=run.id,
        block=run.block,
        deployment=run.deployment,
        level=run.level,
        position=run.position,
        measurement=measurement(
            operations={"all": stats, "read": stats}, client_cpu=(client + more) * COUNT
        ),
        usage=(host(whole=Usage(cpu=(database + more) * COUNT)), host("client-1", "client")),
    )


def found(
    plan: Plan,
    *,
    shaken: Shaken = slow_blocks,
    invalid: Collection[str] = (),
    reference: str = "native",
) -> Mapping[str, Rungs]:
    """Metric → what the runs of a plan give, without those that are named `invalid`."""
    spoilt = {"status": Status.INVALID}
    records = [
        one(run, shaken).model_copy(update=spoilt if run.id in invalid else {})
        for run in plan.runs()
    ]
    gathered = gather(plan, records, {})
    comparisons = Comparisons(Scope(STUDY, plan, gathered), gathered)
    return {each.metric: each for each in room.rungs(plan, comparisons, reference)}


def steps(ladder: Rungs) -> list[tuple[str, str, float]]:
    """The steps in µs/op."""
    return [
        (step.baseline, step.deployment, round(step.difference.value * 1e6, 6))
        for step in ladder.steps
    ]


def test_each_deployment_is_held_against_the_one_before_it_the_baseline_first() -> None:
    ladders = found(planned())
    assert list(ladders) == ["service.mean", "cpu.database", "cpu.client"]
    assert steps(ladders["service.mean"]) == [
        ("native", "overlay", 110.0),
        ("overlay", "host", -112.0),
        ("host", "bridge", 62.0),
    ]
    known = (DEPLOYMENTS[1], *DEPLOYMENTS[3:], DEPLOYMENTS[0])
    ladders = found(planned(known=known))
    assert steps(ladders["cpu.database"]) == [
        ("native", "host", 1.0),
        ("host", "bridge", 6.0),
        ("bridge", "overlay", 8.0),
    ]
    assert [cost for *_, cost in steps(ladders["cpu.client"])] == [0.0, 0.5, 0.0]
    whole = ladders["cpu.database"].whole
    assert (whole.baseline, whole.deployment) == ("native", "overlay")
    assert whole.difference.value * 1e6 == pytest.approx(15.0)
    assert ladders["cpu.database"].first.value * 1e6 == pytest.approx(20 + 30 * 9 / 8)
    assert {each.first.unit for each in ladders.values()} == {"s/op"}


def test_a_step_names_the_factors_that_it_changes() -> None:
    last = found(planned())["service.mean"].steps[-1]
    assert [(each.key, each.baseline, each.deployment) for each in last.factors] == [
        ("network", "host", "bridge")
    ]


def test_the_interval_of_a_step_is_students_over_blocks_which_pairing_makes_equal() -> None:
    def shaken(name: str, block: int) -> float:
        return slow_blocks(name, block) + (3e-6 * (-1) ** block if name == "host" else 0.0)

    step = found(planned(), shaken=shaken)["service.mean"].steps[-1].difference
    half = 2.3646 * 3e-6 * math.sqrt(8 / 7) / math.sqrt(8)
    assert step.low is not None and step.high is not None
    assert step.value == pytest.approx(62e-6)
    assert (step.low, step.high) == pytest.approx((62e-6 - half, 62e-6 + half), rel=1e-4)
    assert (step.n, step.unit) == (8, "s/op")
    assert step.method == "mean of the differences inside blocks, t interval"


def test_below_six_blocks_there_is_no_interval() -> None:
    for step in found(planned(5))["cpu.database"].steps:
        assert (step.difference.low, step.difference.high, step.difference.n) == (None, None, 5)
        assert "no interval below 6" in step.difference.method
    assert all(step.difference.low for step in found(planned(6))["cpu.database"].steps)


def test_alike_twins_are_one_rung_with_the_mean_of_both() -> None:
    def shaken(name: str, block: int) -> float:
        return 2e-6 * (-1) ** block if name == "native-twin" else 0.0

    ladder = found(planned(), shaken=shaken)["service.mean"]
    assert "native-twin" not in {step.deployment for step in ladder.steps}
    first = ladder.steps[0].difference
    assert first.value == pytest.approx(110e-6)
    assert first.method.endswith("against the mean of both twins")
    assert "twins" not in ladder.steps[1].difference.method
    missing = found(planned(), shaken=shaken, invalid=["b1-native"])["service.mean"]
    assert missing.steps[0].difference.n == 8
    assert missing.first.value == pytest.approx(500e-6 + 2e-6 * (1 / 2 - 1) / 8)


def test_twins_that_differ_do_not_stand_for_one_another() -> None:
    def shaken(name: str, block: int) -> float:
        return 50e-6 + 1e-6 * (block % 2) if name == "native-twin" else 0.0

    first = found(planned(), shaken=shaken)["service.mean"].steps[0].difference
    assert first.value == pytest.approx(110e-6)
    assert "twins" not in first.method


def test_where_blocks_are_missing_the_sum_leaves_something_unexplained() -> None:
    def drifting(name: str, block: int) -> float:
        return block * 4e-6 if name == "host" else 0.0

    ladder = found(planned(), shaken=drifting)["service.mean"]
    assert ladder.unexplained == 0.0
    ladder = found(planned(), shaken=drifting, invalid=["b8-overlay"])["service.mean"]
    assert [step.difference.n for step in ladder.steps] == [7, 7, 8]
    assert ladder.whole.difference.n == 8
    assert ladder.whole.difference.value == pytest.approx(60e-6)
    assert ladder.unexplained == pytest.approx(2e-6)


def test_a_step_that_no_block_tells_is_not_known_and_stays_unexplained() -> None:
    invalid = [f"b{block}-host" for block in range(1, 5)]
    invalid += [f"b{block}-overlay" for block in range(5, 9)]
    ladder = found(planned(), invalid=invalid, shaken=lambda *_: 0.0)["service.mean"]
    assert [step.difference.n for step in ladder.steps] == [4, 0, 4]
    assert ladder.total == pytest.approx(172e-6)
    assert ladder.unexplained == pytest.approx(-112e-6)


def test_without_a_block_of_both_ends_the_whole_is_not_known() -> None:
    invalid = [f"b{block}-native" for block in range(1, 5)]
    invalid += [f"b{block}-native-twin" for block in range(1, 5)]
    invalid += [f"b{block}-bridge" for block in range(5, 9)]
    ladder = found(planned(), invalid=invalid)["service.mean"]
    assert (ladder.whole.difference.n, ladder.unexplained) == (0, None)


def test_a_deployment_without_a_valid_run_is_left_out_by_name() -> None:
    invalid = [f"b{block}-host" for block in range(1, 9)]
    ladder = found(planned(), invalid=invalid)["service.mean"]
    assert ladder.left_out == ("host",)
    assert steps(ladder) == [("native", "overlay", 110.0), ("overlay", "bridge", -50.0)]


def test_two_deployments_and_a_twin_make_no_ladder() -> None:
    assert not found(planned(known=DEPLOYMENTS[:3]))
    assert found(planned(known=DEPLOYMENTS[:4]))


def test_service_time_is_added_up_in_closed_loops_only() -> None:
    assert list(found(planned(level=OPEN))) == ["cpu.database", "cpu.client"]


NAMES = [each.name for each in DEPLOYMENTS]
PLACES = [f"b{block}-{name}" for block in range(1, 8) for name in NAMES]


@settings(max_examples=40, deadline=None)
@given(
    noise=st.dictionaries(
        st.sampled_from(PLACES), st.floats(0, 1e-3, allow_nan=False), max_size=len(PLACES)
    ),
    invalid=st.sets(st.sampled_from(PLACES)),
)
def test_steps_and_what_is_unexplained_add_up_to_the_whole(
    noise: Mapping[str, float], invalid: set[str]
) -> None:
    def shaken(name: str, block: int) -> float:
        return noise.get(f"b{block}-{name}", 0.0)

    for ladder in found(planned(7), shaken=shaken, invalid=invalid).values():
        assert len(ladder.steps) + 1 + len(ladder.left_out) == 4
        whole = ladder.whole.difference
        if ladder.unexplained is None:
            assert not whole.n
        else:
            assert ladder.total + ladder.unexplained == pytest.approx(whole.value, abs=1e-12)
