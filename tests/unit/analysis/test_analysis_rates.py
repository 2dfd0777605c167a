"""Shares of two capacities: the same load only where they are the same rate."""

from __future__ import annotations

import pytest
from analysis_cases import CLOSED
from analysis_study import at_level, plan

from dunnage.analysis.runs import Setting
from dunnage.findings.two_results.comparable import other_rates
from dunnage.model.calibration import Calibration, Capacity
from dunnage.model.level import Level

SHARE = Level(share=0.6, of="native")


def calibration(throughput: float, workload: str = "A") -> Calibration:
    found = Capacity(throughput=throughput, runs={"calibration-1": throughput})
    return Calibration(deployment="native", threads=8, capacities={workload: found})


def rates(
    level: Level, a: Calibration | None, b: Calibration | None
) -> dict[Setting, tuple[float, float]]:
    return dict(other_rates(at_level(plan(2), level).runs(), a, b))


def test_a_share_of_two_capacities_is_two_rates() -> None:
    found = rates(SHARE, calibration(1000), calibration(1040))
    assert found == {("A", "s60"): (600.0, 624.0)}


@pytest.mark.parametrize("other", [1000.0, 1000.4])
def test_shares_that_are_the_same_whole_rate_are_the_same_load(other: float) -> None:
    assert rates(SHARE, calibration(1000), calibration(other)) == {}


@pytest.mark.parametrize("level", [CLOSED, Level(rate=600)])
def test_a_load_that_is_no_share_is_the_same_whatever_the_capacity(level: Level) -> None:
    assert rates(level, calibration(1000), calibration(2000)) == {}


def test_of_what_only_one_result_has_found_nothing_is_said() -> None:
    assert rates(SHARE, None, calibration(1000)) == {}
    assert rates(SHARE, calibration(1000), None) == {}
    assert rates(SHARE, calibration(1000), calibration(1040, "B")) == {}
