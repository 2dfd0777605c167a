"""Blocks added after a look: the error rate is spent, and one look is as it was."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest
from analysis_study import STUDY, plan, records, stays
from numpy.typing import NDArray

from dunnage.analysis import looks
from dunnage.analysis.distributions import t_quantile
from dunnage.analysis.intervals import Paired
from dunnage.findings.analyse import analyse
from dunnage.findings.differences.blocks import blocks_needed, settle
from dunnage.findings.differences.twins import Twin
from dunnage.findings.differences.verdict import Edges
from dunnage.model.analysis import Analysis, Verdict
from dunnage.model.look import Look
from dunnage.model.metrics import Better

SIMULATIONS = 4000
LOOKS = (6, 12, 18, 24)
"""Blocks at each look."""


def look(plan_number: int, complete: int = 6) -> Look:
    return Look(time=0.0, plan=plan_number, complete=complete, planned=6, added=6)


def analysed(*seen: Look, blocks: int = 8) -> Analysis:
    planned = plan(blocks)
    made = records(planned, 0.05)
    return analyse(STUDY, planned, made, stays(planned), {}, lambda _: None, looks=seen)


def test_all_looks_together_spend_at_most_one_and_a_half_times_the_error_rate() -> None:
    spent = [1 - looks.coverage(number) for number in range(1, 30)]
    assert spent[0] == pytest.approx(0.05)
    assert all(later < earlier for earlier, later in pairwise(spent))
    assert math.fsum(spent) <= 0.075 + 1e-12


def test_one_look_is_as_it_was_and_says_nothing_of_looks() -> None:
    one = analysed()
    assert one == analysed(look(2, complete=0)).model_copy(update={"looks": ()})
    for comparison in one.comparisons:
        assert comparison.difference.level == 0.95
        assert "look" not in comparison.difference.method


def test_a_second_look_has_wider_intervals_and_says_why() -> None:
    first, second = analysed(), analysed(look(2))
    for one, other in zip(first.comparisons, second.comparisons, strict=True):
        assert other.difference.value == one.difference.value
        assert other.difference.level == pytest.approx(0.9875)
        assert "look 2 at 98.75 %" in other.difference.method
        assert one.difference.low is not None and other.difference.low is not None
        assert one.difference.high is not None and other.difference.high is not None
        assert other.difference.low < one.difference.low
        assert other.difference.high > one.difference.high
        assert (one.apart, other.apart) == (0.0, 0.0)
    assert second.looks == (look(2),)


def test_every_paired_interval_of_a_page_covers_the_same_at_a_look() -> None:
    first, second = analysed(), analysed(look(2))
    for one, other in zip(first.latency, second.latency, strict=True):
        for before, after in zip(one.quantiles, other.quantiles, strict=True):
            assert after.difference.value == before.difference.value
            assert after.difference.level == pytest.approx(0.9875)
            assert "look 2 at 98.75 %" in after.difference.method
            assert after.difference.low is not None and before.difference.low is not None
            assert after.difference.low < before.difference.low
    assert second.latency


def test_the_blocks_needed_after_a_look_are_those_of_the_next_one() -> None:
    pairs = Paired((0.02, 0.04, 0.02, 0.05, 0.03, 0.02))
    assert looks.effort(0.95) == pytest.approx((2.4977 + 0.8416) ** 2, rel=1e-3)
    assert looks.effort(0.9875) == pytest.approx((2.7344 + 0.8416) ** 2, rel=1e-3)
    needed = [
        blocks_needed(pairs, Edges.in_study(0.029), level) or 0 for level in (0.95, 0.9875, 0.99375)
    ]
    assert needed == sorted(needed)
    assert needed[0] < needed[2]


def test_the_effort_is_the_next_looks_over_the_whole_family() -> None:
    for number in range(1, 6):
        assert looks.following(looks.coverage(number)) == pytest.approx(looks.coverage(number + 1))
    assert looks.effort(0.95, 12) == pytest.approx((3.2777 + 0.8416) ** 2, rel=1e-3)


def simulated(effect: float, seed: int) -> NDArray[np.float64]:
    """Log values as [simulation, deployment, block]: baseline, twin, variant; noise over blocks."""
    chance = np.random.default_rng(seed)
    logs = chance.normal(0, 0.02, (SIMULATIONS, 3, LOOKS[-1]))
    logs += chance.normal(0, 0.05, (SIMULATIONS, 1, LOOKS[-1]))
    logs[:, 2] += math.log1p(effect)
    return logs


def halting(differences: NDArray[np.float64]) -> tuple[float, float]:
    """Share of studies whose interval ever left out zero, and whose last one holds the mean.

    Whoever adds blocks stops at the first look whose interval leaves out zero.
    """
    stopped, covered = 0, 0
    for row in differences:
        low = high = 0.0
        for number, blocks in enumerate(LOOKS, start=1):
            ends = Paired(tuple(row[:blocks].tolist())).interval(looks.coverage(number))
            assert ends is not None
            low, high = ends
            if not low <= 0 <= high:
                stopped += 1
                break
        covered += low <= 0 <= high
    return stopped / len(differences), covered / len(differences)


def test_at_an_edge_a_wrong_verdict_comes_in_at_most_five_percent_over_four_looks() -> None:
    claims = 0
    for baseline, twin, variant in simulated(0.03, seed=5):
        for number, blocks in enumerate(LOOKS, start=1):
            level = looks.coverage(number)
            same = Paired(tuple((twin - baseline)[:blocks].tolist()))
            other = Paired(tuple((variant - baseline)[:blocks].tolist()))
            twins, difference = same.difference(level), other.difference(level)
            known = Twin(same.n, None if twins is None else twins.apart)
            found = settle(other, difference, 0.03, Better.LOWER, known)
            if found.verdict is not Verdict.INCONCLUSIVE:
                claims += found.verdict is not Verdict.EQUIVALENT
                break
    assert 0.01 <= claims / SIMULATIONS <= 0.05


@pytest.mark.parametrize("effect", [0.0, 0.03])
def test_the_last_interval_holds_the_truth_whatever_the_looks_made_somebody_do(
    effect: float,
) -> None:
    """Stopping at the first look that seems to show a difference from the truth is the worst."""
    logs = simulated(effect, seed=6)
    stopped, covered = halting(logs[:, 2] - logs[:, 0] - math.log1p(effect))
    assert covered >= 0.92
    assert stopped <= 0.075


def test_without_spending_the_same_stopping_rule_would_miss_the_truth_more_often() -> None:
    logs = simulated(0.0, seed=7)
    missed = 0
    for row in logs[:, 2] - logs[:, 0]:
        ends = [Paired(tuple(row[:blocks].tolist())).interval(0.95) for blocks in LOOKS]
        missed += any(not pair[0] <= 0 <= pair[1] for pair in ends if pair is not None)
    assert missed / SIMULATIONS > 0.09


@pytest.mark.parametrize(
    ("seen", "total", "asked", "expected"),
    [
        (2, 6, 6, True),
        (2, 12, 12, True),
        (5, 6, 2, True),
        (2, 4, 12, True),
        (2, 6, 12, False),
        (2, 12, 6, False),
        (6, 12, 12, False),
    ],
)
def test_below_six_blocks_a_look_is_free_where_nobody_chose_the_total(
    seen: int, total: int, asked: int, expected: bool
) -> None:
    assert looks.free(seen, total, asked) is expected


def test_a_free_look_leaves_the_intervals_as_they_were() -> None:
    free = look(2, complete=5).model_copy(update={"free": True})
    one, other = analysed(), analysed(free)
    assert other == one.model_copy(update={"looks": (free,)})


TOTALS = (6, 7, 8, 9, 10, 12, 14, 18, 25, 40, 100, 400)


def chosen(first: NDArray[np.float64], level: float) -> NDArray[np.int64]:
    """The totals that, after each row's blocks, make a difference above zero likeliest.

    Whoever chooses knows that the noise of a block has a standard deviation of 1.
    """
    seen = first.shape[1]
    sums, squares = first.sum(axis=1), (first**2).sum(axis=1)
    chances = []
    for total in TOTALS:
        spread = np.sqrt((squares + total - seen - sums**2 / total) / (total - 1))
        needed = t_quantile((1 + level) / 2, total - 1) * spread * math.sqrt(total)
        chances.append((sums - needed) / math.sqrt(total - seen))
    likeliest: NDArray[np.int64] = np.array(TOTALS)[np.argmax(chances, axis=0)]
    return likeliest


@pytest.mark.parametrize(
    ("fixed", "level", "least", "most"),
    [
        (None, 0.95, 0.04, 0.06),
        (None, looks.coverage(2), 0.005, 0.0125),
        (12, 0.95, 0.02, 0.03),
    ],
    ids=["chosen and free", "chosen and paid", "fixed and free"],
)
def test_whoever_chooses_the_total_by_five_blocks_must_pay_for_it(
    fixed: int | None, level: float, least: float, most: float
) -> None:
    """Shares of studies without a difference whose interval lies above zero; 2.5 % are meant."""
    chance = np.random.default_rng(8)
    first = chance.normal(0, 1, (20_000, 5))
    totals = chosen(first, level) if fixed is None else np.full(len(first), fixed)
    claims = 0
    for row, total in zip(first, totals.tolist(), strict=True):
        logs = (*row.tolist(), *chance.normal(0, 1, total - len(row)).tolist())
        ends = Paired(logs).t_interval(level)
        assert ends is not None
        claims += ends[0] > 0
    assert least <= claims / len(first) <= most
