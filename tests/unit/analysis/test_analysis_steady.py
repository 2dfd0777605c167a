"""A run is steady as far as its study's other runs are: what moves beyond chance does not count."""

from __future__ import annotations

import math

import numpy as np
import pytest
from analysis_study import plan, records
from test_analysis_judge import judged

from dunnage.analysis.checks.finding import share
from dunnage.analysis.steady import LEAST, MINIMUM_RUNS, Moved, unsteady, usual
from dunnage.findings.checks import sentences
from dunnage.model.check import CheckResult, Status, Why
from dunnage.model.plan import StayPlan
from dunnage.model.record import Record, Window
from dunnage.wording.checks import allowed, seen
from report_gates import unseen_by


def moved(changes: list[float], deployment: str = "native") -> list[Moved]:
    return [Moved(f"{deployment}-{at}", deployment, change) for at, change in enumerate(changes)]


def by_chance(runs: int, spread: float, seed: int, deployment: str = "native") -> list[Moved]:
    logs = np.random.default_rng(seed).normal(0, spread, runs)
    return moved([math.expm1(log) for log in logs], deployment)


@pytest.mark.parametrize("spread", [0.001, 0.03, 0.13])
def test_what_moves_by_chance_is_hardly_ever_called_unsteady(spread: float) -> None:
    alarms = sum(bool(unsteady(by_chance(48, spread, seed))) for seed in range(400))
    assert alarms <= 0.04 * 400


def test_a_run_that_moves_far_more_than_the_others_is_found_and_no_other() -> None:
    runs = by_chance(47, 0.05, 1)
    assert set(unsteady([*runs, Moved("wild", "native", 0.83)])) == {"wild"}
    assert set(unsteady([*runs, Moved("dead", "native", -0.6)])) == {"dead"}


def test_what_a_deployment_does_in_every_run_is_told_of_it_and_spoils_none() -> None:
    warming = [
        Moved(each.run, each.deployment, (1 + each.change) * 1.3 - 1)
        for each in by_chance(12, 0.01, 2, "docker")
    ]
    assert unsteady([*by_chance(12, 0.01, 3), *warming]) == {}


def test_a_quiet_machine_lets_runs_move_by_a_tenth() -> None:
    runs = moved([0.0, 0.001] * 10)
    found = usual(runs)
    assert found is not None and math.expm1(found.most) == pytest.approx(LEAST)
    assert unsteady([*runs, Moved("little", "native", 0.09)]) == {}
    assert set(unsteady([*runs, Moved("more", "native", 0.11)])) == {"more"}


def test_too_few_runs_tell_nothing() -> None:
    runs = moved([0.0] * (MINIMUM_RUNS - 2))
    assert usual(runs) is None
    assert unsteady([*runs, Moved("wild", "native", 5.0)]) == {}


def trending(made: Record, change: float) -> Record:
    assert made.measurement is not None
    counts = [200.0] * 10 + [200.0 * (1 + change)] * 10
    line = tuple(
        Window(start=at * 0.2, length=0.2, operations=round(count), errors=0)
        for at, count in enumerate(counts)
    )
    return made.model_copy(
        update={"measurement": made.measurement.model_copy(update={"windows": line})}
    )


def test_an_unsteady_run_is_invalid_counts_for_its_gate_and_says_beside_what() -> None:
    planned = plan()
    made = records(planned, 0.0)
    made[4] = trending(made[4], 0.8)
    analysis = judged(planned, made)
    (wrong,) = [run for run in analysis.runs if run.status == Status.INVALID]
    assert wrong.run == made[4].run
    assert seen(wrong.checks[-1]) == "+80.0 % from its first to its last third"
    assert "24 runs of this study moved by" in allowed(wrong.checks[-1])


def test_runs_of_a_deployment_that_moves_by_itself_count_and_are_told() -> None:
    planned = plan(12)
    made = records(planned, 0.0)
    own = [at for at, each in enumerate(made) if each.deployment == "docker"]
    for at in own[:5]:
        made[at] = trending(made[at], -0.6)
    analysis = judged(planned, made)
    assert {run.status for run in analysis.runs} == {Status.VALID}
    assert not [gate for gate in analysis.gates if gate.gate == "steady" and gate.fired]
    (told,) = sentences.moving(analysis)
    assert "a run in 5 of 12 blocks, and in 0 of 24 blocks of deployments" in told


def test_several_runs_of_a_block_are_one_move() -> None:
    planned = plan()
    blocks = tuple(
        block.model_copy(update={"stays": tuple(map(twice, block.stays))})
        for block in planned.blocks
    )
    planned = planned.model_copy(update={"blocks": blocks})
    made = records(planned, 0.0)
    own = [at for at, each in enumerate(made) if each.deployment == "docker"]
    for at in own[:6]:
        made[at] = trending(made[at], -0.6)
    analysis = judged(planned, made)
    assert {run.block for run in analysis.runs if run.status != Status.VALID} == {1, 2, 3}
    assert analysis.moving == ()


def twice(stay: StayPlan) -> StayPlan:
    (run,) = stay.runs
    again = run.model_copy(update={"id": f"{run.id}-again", "repeat": 2})
    return stay.model_copy(update={"runs": (run, again)})


def test_gates_count_what_they_did_and_name_the_nearest() -> None:
    planned = plan()
    made = [
        each.model_copy(update={"checks": record_checks(at)})
        for at, each in enumerate(records(planned, 0.0))
    ]
    found = {gate.gate: gate for gate in judged(planned, made).gates}
    assert (found["steal"].judged, found["steal"].fired, found["steal"].unknown) == (24, 1, 1)
    assert (found["steal"].nearest, seen(found["steal"].example)) == (0.9, "4.5 % seen by db-1")
    assert found["errors"].fired == 0


def test_gates_count_runs_in_which_nobody_sees_what_they_judge_apart_from_the_unknown() -> None:
    planned = plan()
    made = [
        each.model_copy(update={"checks": (*record_checks(at)[:1], spoilt)})
        for at, each in enumerate(records(planned, 0.0))
        for spoilt in (unseen_by("steal") if at < 3 else record_checks(at)[1],)
    ]
    found = {gate.gate: gate for gate in judged(planned, made).gates}
    assert (found["steal"].unknown, found["steal"].unseen_runs) == (4, 3)
    assert found["steal"].unseen == ("it runs elsewhere",)


def record_checks(at: int) -> tuple[CheckResult, ...]:
    status = {3: Status.INVALID, 5: Status.UNKNOWN}.get(at, Status.VALID)
    used = {3: 1.2, 5: None, 7: 0.9}.get(at, 0.1)
    stolen = share("steal", {7: 0.045}.get(at, 0.005), "db-1")
    return (
        CheckResult(check="errors", status=Status.VALID, why=Why.MEASURED, used=0.0),
        CheckResult(check="steal", status=status, why=Why.MEASURED, seen=(stolen,), used=used),
    )
