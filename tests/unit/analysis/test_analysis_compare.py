"""Every edge of the verdict."""

from __future__ import annotations

import math

import pytest

from dunnage.analysis.compare import blocks_needed, bound, judge
from dunnage.analysis.estimate import Paired
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


def test_the_blocks_needed_follow_the_formula() -> None:
    spread = 0.1 / math.sqrt(10 / 9)
    pairs = Paired(tuple([math.log1p(0.05) - spread, math.log1p(0.05) + spread] * 5))
    distance = math.log1p(0.10) - math.log1p(0.05)
    assert pairs.sd == pytest.approx(0.1)
    assert blocks_needed(pairs, 0.10) == math.ceil(8 * (0.1 / distance) ** 2)


def test_the_blocks_needed_are_at_least_six_and_more_than_were_not_enough() -> None:
    assert blocks_needed(Paired((0.5, 0.5)), 0.03) == 6
    assert blocks_needed(Paired((0.5,) * 9), 0.03) == 10
    assert blocks_needed(Paired((math.log1p(0.03),) * 6), 0.03) is None


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
