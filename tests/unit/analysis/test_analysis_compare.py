"""Every edge of the verdict."""

from __future__ import annotations

import math

import numpy as np
import pytest

from dunnage.analysis.compare import blocks_needed, bound, judge
from dunnage.analysis.estimate import Paired
from dunnage.analysis.looks import coverage
from dunnage.model.analysis import Estimate, Verdict
from dunnage.model.metrics import Better

PAIRS = Paired((0.0, 0.01, 0.02, 0.0, 0.01, 0.02))
TWIN = Paired((0.0, 0.002, -0.002, 0.001, -0.001, 0.0))


def estimate(low: float | None, high: float | None) -> Estimate:
    middle = 0.0 if low is None or high is None else (low + high) / 2
    return Estimate(value=middle, low=low, high=high, n=6, unit="share", method="given")


@pytest.mark.parametrize(
    ("low", "high", "limit", "worse_when_higher", "worse_when_lower"),
    [
        (-0.01, 0.01, 0.02, "equivalent", "equivalent"),
        (-0.03, 0.03, 0.03, "equivalent", "equivalent"),
        (-0.01, 0.01, 0.031, "inconclusive", "inconclusive"),
        (-0.01, 0.031, 0.02, "inconclusive", "inconclusive"),
        (0.01, 0.02, 0.01, "equivalent", "equivalent"),
        (0.031, 0.05, 0.02, "overhead", "gain"),
        (-0.05, -0.031, 0.02, "gain", "overhead"),
        (0.03, 0.05, 0.02, "inconclusive", "inconclusive"),
        (-0.05, -0.03, 0.02, "inconclusive", "inconclusive"),
        (0.04, 0.06, 0.05, "inconclusive", "inconclusive"),
        (0.051, 0.06, 0.05, "overhead", "gain"),
        (-0.06, -0.051, 0.05, "gain", "overhead"),
        (-0.2, 0.2, 0.02, "inconclusive", "inconclusive"),
    ],
)
def test_a_verdict_follows_from_interval_tolerance_and_bound(
    low: float, high: float, limit: float, worse_when_higher: str, worse_when_lower: str
) -> None:
    for better, expected in (
        (Better.LOWER, worse_when_higher),
        (Better.HIGHER, worse_when_lower),
    ):
        judgement = judge(PAIRS, estimate(low, high), TWIN, limit, 0.03, better)
        assert judgement.verdict == expected
        assert (judgement.blocks_needed is None) == (expected != "inconclusive")
        assert judgement.reason.endswith(".")


@pytest.mark.parametrize("found", range(6))
def test_too_few_blocks_are_inconclusive_and_say_how_many_are_missing(found: int) -> None:
    pairs = Paired((0.5,) * found)
    judgement = judge(pairs, pairs.difference(0.95), TWIN, 0.01, 0.03, Better.LOWER)
    assert judgement.verdict is Verdict.INCONCLUSIVE
    assert judgement.blocks_needed == 6
    assert f"there are {found}, {6 - found}" in judgement.reason


def test_without_a_twin_nothing_is_claimed() -> None:
    judgement = judge(PAIRS, estimate(0.5, 0.6), None, None, 0.03, Better.LOWER)
    assert judgement.verdict is Verdict.INCONCLUSIVE
    assert judgement.blocks_needed is None
    assert "no twin" in judgement.reason


def test_a_twin_with_too_few_blocks_gives_no_bound_and_no_claim() -> None:
    twin = Paired((0.0,) * 4)
    limit = bound(twin.difference(0.95))
    judgement = judge(PAIRS, estimate(0.5, 0.6), twin, limit, 0.03, Better.LOWER)
    assert limit is None
    assert judgement.verdict is Verdict.INCONCLUSIVE
    assert "2 are missing" in judgement.reason


def test_the_bound_is_the_larger_absolute_end() -> None:
    assert bound(estimate(-0.04, 0.01)) == 0.04
    assert bound(estimate(-0.01, 0.05)) == 0.05
    assert bound(estimate(None, None)) is None
    assert bound(None) is None


def made(mean: float, sd: float, n: int = 8) -> Paired:
    """Pairs whose log ratios have exactly this mean and standard deviation; `n` is even."""
    reach = sd * math.sqrt((n - 1) / n)
    return Paired(tuple([mean - reach, mean + reach] * (n // 2)))


REACH = 2.4977 + 0.8416
"""z[1 - 0.0125/2] + z[0.8]: one comparison, judged at the second look."""


def test_towards_equivalent_the_interval_and_the_bound_must_both_get_inside() -> None:
    pairs, edge = made(math.log1p(0.01), 0.03), math.log1p(0.03)
    alone = (REACH * 0.03 / (edge - math.log1p(0.01))) ** 2
    assert blocks_needed(pairs, None, 0.03) == math.ceil(alone)
    assert blocks_needed(pairs, made(0.001, 0.001), 0.03) == math.ceil(alone)
    twin = (REACH * 0.08 / (edge - 0.001)) ** 2
    assert twin > alone
    assert blocks_needed(pairs, made(0.001, 0.08), 0.03) == math.ceil(twin)


def test_towards_a_claim_the_interval_must_leave_the_tolerance_and_a_shrinking_bound() -> None:
    pairs, edge = made(math.log1p(0.05), 0.1), math.log1p(0.03)
    alone = (REACH * 0.1 / (math.log1p(0.05) - edge)) ** 2
    assert blocks_needed(pairs, None, 0.03) == math.ceil(alone)
    assert blocks_needed(pairs, made(0.001, 0.01), 0.03) == math.ceil(alone)
    both = (REACH * (0.1 + 0.5) / (math.log1p(0.05) - 0.001)) ** 2
    assert both > alone
    assert blocks_needed(pairs, made(0.001, 0.5), 0.03) == math.ceil(both)
    mirrored = made(-math.log1p(0.05), 0.1)
    assert blocks_needed(mirrored, made(0.001, 0.5), 0.03) == math.ceil(both)


def test_many_comparisons_need_more_blocks_and_the_twins_part_does_not_grow() -> None:
    pairs, noisy = made(math.log1p(0.01), 0.03), made(0.001, 0.08)
    one, twelve = (blocks_needed(pairs, None, 0.03, family=family) for family in (1, 12))
    assert one is not None and twelve is not None
    assert twelve / one == pytest.approx((3.2777 + 0.8416) ** 2 / REACH**2, rel=0.05)
    assert blocks_needed(pairs, noisy, 0.03, family=2) == blocks_needed(pairs, noisy, 0.03)


def test_the_blocks_needed_are_at_least_six_and_more_than_were_not_enough() -> None:
    assert blocks_needed(Paired((0.5, 0.5)), None, 0.03) == 6
    assert blocks_needed(Paired((0.5,) * 9), None, 0.03) == 10
    assert blocks_needed(Paired(()), None, 0.03) == 6


def test_blocks_that_the_twin_lost_are_made_up_for() -> None:
    pairs, whole, lacking = made(0.0, 0.001, 20), made(0.0, 0.05, 20), made(0.0, 0.05, 12)
    needed = blocks_needed(pairs, whole, 0.03)
    assert needed is not None and needed > 21
    assert blocks_needed(pairs, lacking, 0.03) == needed + 8


@pytest.mark.parametrize(
    ("pairs", "twin", "why"),
    [
        (made(math.log1p(0.03), 0.0), made(0.0, 0.05), "lies on the edge of the tolerance"),
        (made(0.0, 0.05), made(0.06, 0.05), "differed by +6.2 % on average, which is outside"),
        (made(-0.05, 0.01), made(0.06, 0.05), "+6.2 % on average, which is no less than this"),
    ],
)
def test_where_no_number_of_blocks_would_do_none_is_named_and_the_reason_says_why(
    pairs: Paired, twin: Paired, why: str
) -> None:
    found = judge(
        pairs, pairs.difference(0.95), twin, bound(twin.difference(0.95)), 0.03, Better.LOWER
    )
    assert found.verdict is Verdict.INCONCLUSIVE
    assert found.blocks_needed is None
    assert "No number of blocks can be named" in found.reason and why in found.reason


def test_an_estimate_at_the_tolerance_under_a_wide_bound_does_not_need_seven_blocks() -> None:
    """-2.9 % in an interval of ±23 % with a bound of 14.5 %: both must shrink to ±3 %."""
    pairs, twin = made(math.log1p(-0.029), 0.24, 6), made(0.0, 0.13, 6)
    difference, limit = pairs.difference(0.95), bound(twin.difference(0.95))
    assert difference is not None and difference.low is not None
    assert limit is not None and 0.13 < limit < 0.16
    assert difference.value - difference.low == pytest.approx(0.22, abs=0.02)
    found = judge(pairs, difference, twin, limit, 0.03, Better.LOWER)
    assert found.verdict is Verdict.INCONCLUSIVE
    assert found.blocks_needed is not None and found.blocks_needed > 100_000


def settled(effect: float, noise: float, twins: float, blocks: int) -> float:
    """Share of simulated second looks that end with the true verdict, at 3 % tolerance."""
    chance = np.random.default_rng(3)
    level, right = coverage(2), 0
    wanted = Verdict.EQUIVALENT if abs(effect) < 0.03 else Verdict.OVERHEAD
    for _ in range(300):
        pairs = Paired(tuple(chance.normal(math.log1p(effect), noise, blocks).tolist()))
        twin = Paired(tuple(chance.normal(0.0, twins, blocks).tolist()))
        limit = bound(twin.difference(level))
        found = judge(pairs, pairs.difference(level), twin, limit, 0.03, Better.LOWER)
        right += found.verdict is wanted
    return right / 300


@pytest.mark.parametrize(
    ("effect", "noise", "twins"),
    [(0.01, 0.01, 0.01), (0.0, 0.015, 0.02), (0.05, 0.02, 0.01), (0.05, 0.01, 0.04)],
)
def test_so_many_blocks_settle_it_much_more_often_than_half_of_them(
    effect: float, noise: float, twins: float
) -> None:
    """Few blocks pay for Student's t and for the twins' chance difference, so not quite at 80 %."""
    needed = blocks_needed(made(math.log1p(effect), noise), made(0.0, twins), 0.03)
    assert needed is not None and 8 < needed < 30
    often = settled(effect, noise, twins, needed)
    assert often > 0.4
    assert often > settled(effect, noise, twins, max(6, needed // 2)) + 0.15


@pytest.mark.parametrize(
    ("mean", "verdict"), [(0.0, "equivalent"), (0.05, "overhead"), (0.012, "inconclusive")]
)
def test_a_question_about_the_twins_is_judged_by_the_tolerance_alone(
    mean: float, verdict: str
) -> None:
    twin = made(mean, 0.005)
    limit = bound(twin.difference(0.95))
    found = judge(twin, twin.difference(0.95), twin, limit, 0.01, Better.LOWER, own=True)
    assert found.verdict == verdict
    assert "These are the twins" in found.reason
    other = judge(twin, twin.difference(0.95), twin, limit, 0.01, Better.LOWER)
    assert other.verdict != Verdict.OVERHEAD


def test_of_the_twins_no_reason_speaks_of_a_bound_that_may_lie_outside() -> None:
    """With the baseline swapped an interval may lie inside the tolerance, and the bound beyond."""
    swapped = estimate(-0.0296, 0.001)
    found = judge(PAIRS, swapped, TWIN, 0.0305, 0.03, Better.LOWER, own=True)
    assert found.verdict is Verdict.EQUIVALENT
    assert found.reason.startswith("The interval -3.0 % to +0.1 % lies inside ±3.0 %. These are")


def test_a_bound_that_cannot_be_made_says_why() -> None:
    found = judge(PAIRS, estimate(0.5, 0.6), TWIN, None, 0.03, Better.LOWER, unbounded="Because.")
    assert (found.verdict, found.reason) == (Verdict.INCONCLUSIVE, "Because.")
    assert found.blocks_needed is None


@pytest.mark.parametrize(
    ("low", "high", "limit", "sentence"),
    [
        (0.01, 0.05, 0.02, "The interval +1.0 % to +5.0 % reaches across the tolerance of ±3.0 %."),
        (0.01, 0.07, 0.05, "The interval +1.0 % to +7.0 % reaches across the A/A bound of ±5.0 %."),
        (0.035, 0.04, 0.05, "The interval +3.5 % to +4.0 % stays within the A/A bound of ±5.0 %."),
        (
            -0.01,
            0.01,
            0.04,
            "The interval -1.0 % to +1.0 % lies inside ±3.0 %, but identical deployments differed "
            "by up to 4.0 %.",
        ),
        (0.1, 0.2, 0.02, "The interval +10.0 % to +20.0 % lies beyond the tolerance of ±3.0 %."),
        (
            -0.01,
            0.01,
            0.02,
            "The interval -1.0 % to +1.0 % and the A/A bound of 2.0 % lie inside ±3.0 %.",
        ),
    ],
)
def test_the_reason_is_one_plain_sentence(
    low: float, high: float, limit: float, sentence: str
) -> None:
    assert judge(PAIRS, estimate(low, high), TWIN, limit, 0.03, Better.LOWER).reason == sentence
