"""Throughput within a latency objective, knees and parabolas: known answers."""

from __future__ import annotations

import math

import numpy as np
import pytest

from dunnage.analysis.runs import Setting
from dunnage.findings.scalability.ladder import Ladder, knee
from dunnage.findings.scalability.monotone import round_objectives, under_objectives, within
from dunnage.findings.scalability.quadratic import quadratic

LATENCY = np.log([0.001, 0.001, 0.002, 0.004, 0.010])
THROUGHPUT = np.log([1000.0, 2000.0, 3000.0, 3200.0, 3100.0])
LADDER = Ladder("C", (1, 2, 4, 8, 16), tuple(Setting("C", f"t{n}") for n in (1, 2, 4, 8, 16)))


def test_between_two_levels_both_are_interpolated() -> None:
    found, always = within(math.log(math.sqrt(0.002 * 0.004)), LATENCY, THROUGHPUT)
    assert found == pytest.approx((math.log(3000) + math.log(3200)) / 2)
    assert not always


def test_an_objective_below_the_lightest_level_has_no_throughput() -> None:
    assert within(math.log(0.0005), LATENCY, THROUGHPUT) == (None, False)


def test_an_objective_that_every_level_keeps_gives_the_highest_and_says_so() -> None:
    assert within(math.log(0.5), LATENCY, THROUGHPUT) == (math.log(3200.0), True)


def test_a_dip_in_latency_does_not_open_a_second_way_in() -> None:
    dipping = np.log([0.001, 0.004, 0.001, 0.010])
    found, _ = within(math.log(0.0015), dipping, np.log([100.0, 200.0, 300.0, 400.0]))
    assert found is not None and math.exp(found) < 200


def test_throughputs_under_objectives_are_over_blocks_and_never_fall_with_the_objective() -> None:
    shifted = {block: LATENCY + 0.01 * block for block in range(1, 8)}
    found = under_objectives(
        "service.p95", [0.0005, 0.002, 0.005, 1.0], shifted, dict.fromkeys(shifted, THROUGHPUT)
    )
    assert found[0].throughput is None
    values = [one.throughput.value for one in found[1:] if one.throughput is not None]
    assert values == sorted(values) and len(values) == 3
    assert [one.at_least for one in found] == [False, False, False, True]
    assert found[1].throughput is not None and found[1].throughput.low is not None


def test_objectives_are_round_and_inside_the_range() -> None:
    assert list(round_objectives(0.0003, 0.006)) == [0.0005, 0.001, 0.002, 0.005]


def test_the_knee_is_where_the_first_rate_would_reach_the_highest_throughput() -> None:
    found = knee(LADDER, {block: THROUGHPUT + block for block in range(1, 7)})
    assert found is not None
    assert found.threads.value == pytest.approx(3.2)
    assert found.below == ("t1", "t2")


def test_two_levels_have_no_knee() -> None:
    short = Ladder("C", (1, 2), LADDER.settings[:2])
    assert knee(short, {1: THROUGHPUT[:2]}) is None


def test_a_parabola_comes_back_with_its_fit() -> None:
    runs = [(n, 3.0 + 0.5 * n - 0.01 * n * n) for n in range(5, 80, 5)]
    found = quadratic("service.p95", runs)
    assert found is not None
    assert (found.constant, found.linear, found.quadratic) == pytest.approx((3.0, 0.5, -0.01))
    assert found.r_squared == pytest.approx(1.0)
    assert (found.runs, found.points[0].threads, found.points[-1].threads) == (15, 5, 75)


def test_noise_lowers_the_fit_and_three_levels_have_none() -> None:
    chance = np.random.default_rng(1)
    noisy = [(n, float(chance.normal(1, 1))) for n in (1, 2, 4, 8) for _ in range(6)]
    found = quadratic("throughput", noisy)
    assert found is not None and found.r_squared is not None and found.r_squared < 0.5
    assert quadratic("throughput", [(n, 1.0) for n in (1, 2, 4)]) is None
