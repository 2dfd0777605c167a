"""From records to verdict: what whole studies with a known truth say, a thousand times over."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

import pytest
from analysis_simulation import OVERHEADS, simulated, study

from dunnage.model.analysis import Analysis, Comparison, Verdict

FEW = 150
"""Studies of a test that is part of every run; its proof takes a thousand."""
CLAIMS = frozenset({Verdict.OVERHEAD, Verdict.GAIN})


@dataclass(frozen=True)
class Stated:
    """What a rule promises of one true difference: it is found so often, and missaid so rarely."""

    right: Verdict
    reached: float
    """Share of studies that end with the right verdict at least."""
    wrong: frozenset[Verdict]
    exceeded: float = 0.05
    """Share of studies that end with a wrong one at most."""


STATED = {
    "same": Stated(Verdict.EQUIVALENT, 0.8, CLAIMS),
    "three": Stated(Verdict.EQUIVALENT, 0.12, CLAIMS),
    "ten": Stated(Verdict.GAIN, 0.85, frozenset({Verdict.OVERHEAD, Verdict.EQUIVALENT})),
    "twin": Stated(Verdict.EQUIVALENT, 0.8, CLAIMS),
}
"""Deployment → what holds of it in eight blocks, at a tolerance of 5 %. The twin is asked for, so
that it is judged by the tolerance alone."""


def compared(analysis: Analysis) -> dict[str, Comparison]:
    return {c.deployment: c for c in analysis.comparisons if c.metric == "throughput"}


def holds(comparison: Comparison) -> bool:
    low, high = comparison.difference.low, comparison.difference.high
    assert low is not None and high is not None
    return low <= OVERHEADS[comparison.deployment] <= high


@pytest.mark.parametrize("studies", [FEW, pytest.param(1000, marks=pytest.mark.proof)])
@pytest.mark.parametrize("drift", ["linear", "ar1"])
def test_intervals_hold_the_truth_and_verdicts_are_right_as_often_as_stated(
    drift: str, studies: int, record_property: Callable[[str, object], None]
) -> None:
    held: Counter[str] = Counter()
    found: Counter[tuple[str, Verdict]] = Counter()
    for analysis in simulated(study("three", "twin", tolerance=0.05), 8, drift, studies):
        for name, comparison in compared(analysis).items():
            held[name] += holds(comparison)
            found[name, comparison.verdict] += 1
    for name, stated in STATED.items():
        right = found[name, stated.right] / studies
        wrong = sum(found[name, verdict] for verdict in stated.wrong) / studies
        seen = f"{name}: held {held[name] / studies:.1%}, right {right:.1%}, wrong {wrong:.1%}"
        record_property("seen", seen)
        # Two intervals hold together in the question, so each of its own covers a little more.
        assert 0.91 <= held[name] / studies <= (0.99 if name in ("three", "twin") else 0.98), seen
        assert right >= stated.reached, seen
        assert wrong <= stated.exceeded, seen


@pytest.mark.parametrize("studies", [FEW, pytest.param(1000, marks=pytest.mark.proof)])
def test_identical_deployments_are_told_apart_rarely_but_not_never(
    studies: int, record_property: Callable[[str, object], None]
) -> None:
    """At a tolerance of next to nothing every interval that leaves out zero is a claim."""
    claimed = sum(
        compared(analysis)["twin"].verdict in CLAIMS
        for analysis in simulated(study("twin"), 8, "ar1", studies)
    )
    record_property("seen", f"{claimed} of {studies} studies")
    assert 0.02 * studies <= claimed <= 0.07 * studies


def test_the_intervals_of_a_question_hold_together() -> None:
    studies = FEW
    together = sum(
        all(holds(comparison) for comparison in analysis.answers[0].comparisons)
        for analysis in simulated(study("same", "three", "ten"), 6, "ar1", studies)
    )
    assert together >= 0.93 * studies


def test_one_deployment_after_the_other_reads_drift_as_overhead_and_random_blocks_do_not() -> None:
    studies = 100
    apart = list(simulated(study("three"), 8, "linear", studies, interleaved=False))
    mixed = list(simulated(study("three"), 8, "linear", studies))
    assert sum(holds(compared(analysis)["ten"]) for analysis in apart) <= 0.05 * studies
    assert sum(holds(compared(analysis)["ten"]) for analysis in mixed) >= 0.9 * studies
    ten = [compared(analysis)["ten"].verdict for analysis in mixed]
    assert sum(verdict is Verdict.GAIN for verdict in ten) >= 0.9 * studies
    same = [compared(analysis)["same"].verdict for analysis in mixed]
    assert sum(verdict in CLAIMS for verdict in same) <= 0.05 * studies
