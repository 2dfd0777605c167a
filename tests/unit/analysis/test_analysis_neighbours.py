"""What neighbours cost: all alike, or one deployment more than the baseline."""

from __future__ import annotations

import pytest
from analysis_study import STUDY, plan, records, stays

from dunnage.findings.analyse import analyse
from dunnage.model.analysis import Analysis, Ground, Verdict
from dunnage.model.check import Status
from dunnage.model.record import Record

BLOCKS = 12


def alone(beside: list[Record], factor: dict[str, float]) -> list[Record]:
    """In each block one deployment by itself, in turn, with so much of its throughput."""
    names = ["native", "twin", "docker"]
    found = []
    for each in beside:
        if each.deployment == names[each.block % 3]:
            assert each.measurement is not None
            stats = each.measurement.operations["all"]
            count = round(stats.count * factor.get(each.deployment, 1.0))
            operations = {"all": stats.model_copy(update={"count": count})}
            measurement = each.measurement.model_copy(update={"operations": operations})
            found.append(
                each.model_copy(update={"measurement": measurement, "run": f"{each.run}-"})
            )
    return found


def analysis(factor: dict[str, float]) -> Analysis:
    planned = plan(BLOCKS)
    made = records(planned, overhead=0.10)
    return analyse(
        STUDY, planned, made, stays(planned), {}, lambda _: None, alone=alone(made, factor)
    )


def throughput(found: Analysis) -> Verdict:
    (compared,) = found.answers[0].comparisons
    return compared.verdict


def test_neighbours_that_cost_nothing_leave_every_claim() -> None:
    found = analysis({})
    (cost,) = [each for each in found.neighbours if each.metric == "throughput"]
    assert cost.difference.value == pytest.approx(0.0, abs=1e-9)
    assert set(cost.uneven) == {"docker"}
    assert cost.uneven["docker"].n == 4
    assert throughput(found) is Verdict.OVERHEAD


def test_what_they_cost_everybody_alike_withholds_claims_when_it_is_much() -> None:
    found = analysis(dict.fromkeys(["native", "twin", "docker"], 1.10))
    (cost,) = [each for each in found.neighbours if each.metric == "throughput"]
    assert cost.difference.value == pytest.approx(1 / 1.10 - 1, abs=1e-4)
    assert cost.uneven["docker"].value == pytest.approx(0.0, abs=1e-3)
    (compared,) = found.answers[0].comparisons
    assert compared.withheld and compared.verdict is Verdict.INCONCLUSIVE
    assert compared.ground is Ground.NEIGHBOURS and compared.neighbours is not None


def test_what_they_cost_one_more_than_the_baseline_withholds_claims_of_that_one() -> None:
    """One deployment's cost is a third of all: their mean hides it."""
    found = analysis({"docker": 1.08})
    (cost,) = [each for each in found.neighbours if each.metric == "throughput"]
    assert abs(cost.difference.value) < STUDY.questions["RQ1"].tolerance
    assert cost.uneven["docker"].value == pytest.approx(1 / 1.08 - 1, abs=1e-3)
    assert throughput(found) is Verdict.INCONCLUSIVE


def test_twins_are_one_deployment_to_their_neighbours() -> None:
    """What seems to cost one twin more than the other is chance, and widens the interval."""
    found = analysis({"native": 1.04, "twin": 1 / 1.04})
    (cost,) = [each for each in found.neighbours if each.metric == "throughput"]
    assert cost.uneven["docker"].value == pytest.approx(0.0, abs=1e-3)
    assert cost.uneven["docker"].low is not None and cost.uneven["docker"].low < -0.03
    assert throughput(found) is Verdict.OVERHEAD


def test_runs_that_are_not_valid_tell_nothing() -> None:
    planned = plan(BLOCKS)
    made = records(planned, overhead=0.10)
    spoilt = [
        each.model_copy(update={"status": Status.INVALID}) for each in alone(made, {"docker": 2.0})
    ]
    found = analyse(STUDY, planned, made, stays(planned), {}, lambda _: None, alone=spoilt)
    assert found.neighbours == ()
