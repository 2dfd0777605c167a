"""Every edge of the verdict."""

from __future__ import annotations

import math

import numpy as np
import pytest

from dunnage.analysis.intervals import Paired
from dunnage.analysis.looks import coverage
from dunnage.findings.differences.blocks import blocks_needed, settle
from dunnage.findings.differences.twins import Twin
from dunnage.findings.differences.verdict import Edges, decide
from dunnage.model.analysis import Ground, Overload, Verdict
from dunnage.model.estimate import Estimate
from dunnage.model.metrics import Better

PAIRS = Paired((0.0, 0.01, 0.02, 0.0, 0.01, 0.02))
ALIKE = Twin(6, 0.0)
OVERLOAD = Overload(deployment="twin", over=2, runs=6, least=0.91)
NARROW = Edges.in_study(0.03)


def estimate(low: float | None, high: float | None) -> Estimate:
    middle = 0.0 if low is None or high is None else (low + high) / 2
    return Estimate(value=middle, low=low, high=high, n=6, unit="share", method="given")


@pytest.mark.parametrize(
    ("low", "high", "twins", "worse_when_higher", "worse_when_lower"),
    [
        (-0.01, 0.01, 0.0, "equivalent", "equivalent"),
        (-0.029, 0.029, 0.0, "equivalent", "equivalent"),
        (-0.01, 0.031, 0.0, "inconclusive", "inconclusive"),
        (0.01, 0.02, 0.0, "equivalent", "equivalent"),
        (0.031, 0.05, 0.0, "overhead", "gain"),
        (-0.05, -0.031, 0.0, "gain", "overhead"),
        (0.03, 0.05, 0.0, "inconclusive", "inconclusive"),
        (-0.05, -0.03, 0.0, "inconclusive", "inconclusive"),
        (-0.2, 0.2, 0.0, "inconclusive", "inconclusive"),
        # Twins that are 2 % apart: beyond 1.03 · 1.02, inside 1.03 / 1.02.
        (-0.005, 0.009, 0.02, "equivalent", "equivalent"),
        (-0.005, 0.011, 0.02, "inconclusive", "inconclusive"),
        (0.045, 0.05, 0.02, "inconclusive", "inconclusive"),
        (0.051, 0.06, 0.02, "overhead", "gain"),
        (-0.06, -0.05, 0.02, "gain", "overhead"),
        (-0.06, -0.045, 0.02, "inconclusive", "inconclusive"),
        (-0.001, 0.001, 0.04, "inconclusive", "inconclusive"),
    ],
)
def test_a_verdict_follows_from_interval_tolerance_and_what_twins_are_apart(
    low: float, high: float, twins: float, worse_when_higher: str, worse_when_lower: str
) -> None:
    for better, expected in (
        (Better.LOWER, worse_when_higher),
        (Better.HIGHER, worse_when_lower),
    ):
        judgement = settle(PAIRS, estimate(low, high), 0.03, better, Twin(6, twins))
        assert judgement.verdict == expected
        assert (judgement.ground in {Ground.INSIDE, Ground.BEYOND}) == (expected != "inconclusive")


@pytest.mark.parametrize(
    ("low", "high", "bound", "worse_when_higher", "worse_when_lower"),
    [
        (-0.03, 0.03, 0.03, "equivalent", "equivalent"),
        (-0.01, 0.031, 0.0, "inconclusive", "inconclusive"),
        (-0.001, 0.001, 0.031, "inconclusive", "inconclusive"),
        (0.031, 0.05, 0.0, "overhead", "gain"),
        (-0.05, -0.031, 0.03, "gain", "overhead"),
        (0.03, 0.05, 0.0, "inconclusive", "inconclusive"),
        # Twins that may be 4 % apart: beyond that, and not beyond 1.03 · 1.04.
        (0.041, 0.05, 0.04, "overhead", "gain"),
        (0.039, 0.05, 0.04, "inconclusive", "inconclusive"),
        (-0.05, -0.041, 0.04, "gain", "overhead"),
    ],
)
def test_between_two_results_a_difference_must_exceed_tolerance_and_bound(
    low: float, high: float, bound: float, worse_when_higher: str, worse_when_lower: str
) -> None:
    edges = Edges.between_results(0.03, bound)
    for better, expected in (
        (Better.LOWER, worse_when_higher),
        (Better.HIGHER, worse_when_lower),
    ):
        judgement = decide(estimate(low, high), edges, better)
        assert judgement.verdict == expected
        assert (judgement.ground is Ground.ACROSS) == (expected == "inconclusive")


def test_without_edges_the_ground_is_the_twins_unless_there_is_no_interval() -> None:
    for difference, ground in (
        (estimate(0.5, 0.6), Ground.NO_BOUND),
        (estimate(None, None), Ground.TOO_FEW_BLOCKS),
        (None, Ground.TOO_FEW_BLOCKS),
    ):
        judgement = decide(difference, Ground.NO_BOUND, Better.LOWER)
        assert (judgement.verdict, judgement.ground) == (Verdict.INCONCLUSIVE, ground)


@pytest.mark.parametrize("found", range(6))
def test_too_few_blocks_are_inconclusive_and_say_how_many_are_missing(found: int) -> None:
    pairs = Paired((0.5,) * found)
    judgement = settle(pairs, pairs.difference(0.95), 0.03, Better.LOWER, ALIKE)
    assert judgement.verdict is Verdict.INCONCLUSIVE
    assert judgement.blocks_needed == 6
    assert judgement.ground is Ground.TOO_FEW_BLOCKS


@pytest.mark.parametrize(
    ("twin", "blocks", "why"),
    [
        (None, None, Ground.NO_TWIN),
        (Twin(4, None), 8, Ground.TOO_FEW_TWINS),
        (Twin(6, None, (OVERLOAD,)), None, Ground.TWINS_OVERLOADED),
    ],
)
def test_where_nobody_knows_how_far_identical_deployments_differ_nothing_is_claimed(
    twin: Twin | None, blocks: int | None, why: Ground
) -> None:
    judgement = settle(PAIRS, estimate(0.5, 0.6), 0.03, Better.LOWER, twin)
    assert judgement.verdict is Verdict.INCONCLUSIVE
    assert judgement.blocks_needed == blocks
    assert judgement.ground is why


def test_twins_are_apart_by_the_nearer_end_of_an_interval_that_leaves_zero() -> None:
    assert estimate(-0.04, 0.01).apart == 0.0
    assert estimate(0.01, 0.05).apart == 0.01
    assert estimate(-0.5, -0.2).apart == pytest.approx(0.25)
    assert estimate(None, None).apart is None


def made(mean: float, sd: float, n: int = 8) -> Paired:
    """Pairs whose log ratios have exactly this mean and standard deviation; `n` is even."""
    reach = sd * math.sqrt((n - 1) / n)
    return Paired(tuple([mean - reach, mean + reach] * (n // 2)))


REACH = 2.4977 + 0.8416
"""z[1 - 0.0125/2] + z[0.8]: one comparison, judged at the second look."""


@pytest.mark.parametrize("mirrored", [1, -1])
def test_an_estimate_heads_for_the_nearest_edge_of_its_verdict(mirrored: int) -> None:
    edge = math.log1p(0.03) if mirrored > 0 else -math.log1p(-0.03)
    inside = (REACH * 0.03 / (edge - 0.01)) ** 2
    assert blocks_needed(made(mirrored * 0.01, 0.03), NARROW) == math.ceil(inside)
    beyond = (REACH * 0.1 / (0.05 - edge)) ** 2
    assert blocks_needed(made(mirrored * 0.05, 0.1), NARROW) == math.ceil(beyond)


def test_twins_that_are_apart_leave_no_verdict_between_their_edges() -> None:
    edges = Edges.in_study(0.03, 0.02)
    assert blocks_needed(made(math.log1p(0.03), 0.01), edges) is None
    near, far = (blocks_needed(made(0.06, 0.1), each) for each in (NARROW, edges))
    assert near is not None and far is not None and near < far


def test_many_comparisons_need_more_blocks() -> None:
    pairs = made(math.log1p(0.01), 0.03)
    one, twelve = (blocks_needed(pairs, NARROW, family=family) for family in (1, 12))
    assert one is not None and twelve is not None
    assert twelve / one == pytest.approx((3.2777 + 0.8416) ** 2 / REACH**2, rel=0.05)


def test_the_blocks_needed_are_at_least_six_and_more_than_were_not_enough() -> None:
    assert blocks_needed(Paired((0.5, 0.5)), NARROW) == 6
    assert blocks_needed(Paired((0.5,) * 9), NARROW) == 10
    assert blocks_needed(Paired(()), NARROW) == 6


def test_on_an_edge_no_number_of_blocks_is_named() -> None:
    pairs = made(math.log1p(0.03), 0.01)
    found = settle(pairs, pairs.difference(0.95), 0.03, Better.LOWER, ALIKE)
    assert (found.verdict, found.blocks_needed) == (Verdict.INCONCLUSIVE, None)
    assert found.ground is Ground.ON_AN_EDGE


def settled(effect: float, noise: float, blocks: int) -> float:
    """Share of simulated second looks that end with the true verdict, at 3 % tolerance."""
    chance = np.random.default_rng(3)
    level, right = coverage(2), 0
    wanted = Verdict.EQUIVALENT if abs(effect) < 0.03 else Verdict.OVERHEAD
    for _ in range(300):
        pairs = Paired(tuple(chance.normal(math.log1p(effect), noise, blocks).tolist()))
        found = settle(pairs, pairs.difference(level), 0.03, Better.LOWER, Twin(blocks, 0.0))
        right += found.verdict is wanted
    return right / 300


@pytest.mark.parametrize(("effect", "noise"), [(0.01, 0.02), (0.05, 0.02)])
def test_so_many_blocks_settle_it_much_more_often_than_half_of_them(
    effect: float, noise: float
) -> None:
    """Few blocks pay for Student's t, so not quite at 80 %."""
    needed = blocks_needed(made(math.log1p(effect), noise), NARROW)
    assert needed is not None and 8 < needed < 30
    often = settled(effect, noise, needed)
    assert often > 0.5
    assert often > settled(effect, noise, max(6, needed // 2)) + 0.15
