"""From records to verdict: what whole studies with a known truth say, a thousand times over."""

from __future__ import annotations

from collections import Counter

import pytest
from analysis_simulation import OVERHEADS, simulated, study

from dunnage.model.analysis import Analysis, Comparison, Verdict

STUDIES = 1000
CLAIMS = {Verdict.OVERHEAD, Verdict.GAIN}


def compared(analysis: Analysis) -> dict[str, Comparison]:
    return {c.deployment: c for c in analysis.comparisons if c.metric == "throughput"}


def holds(comparison: Comparison) -> bool:
    low, high = comparison.difference.low, comparison.difference.high
    assert low is not None and high is not None
    return low <= OVERHEADS[comparison.deployment] <= high


@pytest.mark.parametrize("drift", ["linear", "ar1"])
def test_intervals_hold_the_truth_and_identical_deployments_are_not_told_apart(drift: str) -> None:
    held: Counter[str] = Counter()
    claimed: Counter[str] = Counter()
    for analysis in simulated(study("three"), 8, drift, STUDIES):
        for name, comparison in compared(analysis).items():
            held[name] += holds(comparison)
            claimed[name] += comparison.verdict in CLAIMS
    for name in ("same", "three", "ten"):
        assert 0.92 * STUDIES <= held[name] <= 0.98 * STUDIES, (name, held)
    assert claimed["same"] <= 0.05 * STUDIES
    assert claimed["twin"] <= 0.05 * STUDIES
    assert claimed["ten"] >= 0.9 * STUDIES


def test_the_intervals_of_a_question_hold_together() -> None:
    studies = 300
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
    assert sum(compared(analysis)["same"].verdict in CLAIMS for analysis in mixed) <= 0.05 * studies
