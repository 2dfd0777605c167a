"""The studies that Dunnage ships, carried out for real: is the number true?"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from study_process import answered

from dunnage.analysis.between import between
from dunnage.model.analysis import Analysis, Comparison, Verdict

pytestmark = [pytest.mark.live, pytest.mark.timeout(1800)]


@pytest.fixture(scope="module")
def quickstarts(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, Any], dict[str, Any]]:
    """Two quickstarts on this machine, one after the other."""
    results = tmp_path_factory.mktemp("quickstarts")
    first, second = (answered("quickstart", "--results", str(results)) for _ in range(2))
    return first, second


def analysis(answer: dict[str, Any]) -> Analysis:
    return Analysis.model_validate(answer["analysis"])


def test_the_quickstart_answers_with_valid_runs_and_complete_blocks(
    quickstarts: tuple[dict[str, Any], dict[str, Any]],
) -> None:
    for answer in quickstarts:
        seen = analysis(answer)
        assert seen.missing == 0
        assert seen.valid >= 0.9 * seen.planned
        assert all(run.reasons for run in seen.runs if run.status != "valid")
        assert all(one.complete_blocks >= 6 for one in seen.answers)
        asked = [each for one in seen.answers for each in one.comparisons]
        assert all(each.difference.low is not None and each.bound is not None for each in asked)
        assert Path(answer["page"]).stat().st_size > 10_000


def test_two_quickstarts_on_the_same_machine_show_no_difference(
    quickstarts: tuple[dict[str, Any], dict[str, Any]],
) -> None:
    shifts = between(analysis(quickstarts[0]), analysis(quickstarts[1]))
    assert shifts
    assert [shift for shift in shifts if shift.differs] == []


def test_docker_with_a_bridge_costs_redis_something(
    quickstarts: tuple[dict[str, Any], dict[str, Any]],
) -> None:
    """Address translation and a proxy cannot be free: else the instrument sees nothing."""
    for answer in quickstarts:
        verdicts = {
            each.verdict
            for one in analysis(answer).answers
            for each in one.comparisons
            if each.deployment == "docker-bridge" and each.metric == "throughput"
        }
        assert Verdict.OVERHEAD in verdicts
        assert Verdict.GAIN not in verdicts


def test_a_known_slowdown_is_found_and_its_twin_is_not(tmp_path: Path) -> None:
    answer = answered("run", "studies/known-slowdown.yaml", "--results", str(tmp_path))
    seen = analysis(answer)
    found = {each.deployment: each for one in seen.answers for each in one.comparisons}
    slowed = found["slowed"]
    assert seen.valid >= 0.9 * seen.planned
    assert slowed.difference.n >= 16
    assert slowed.difference.low is not None
    assert slowed.difference.high is not None
    assert slowed.difference.high < 0
    assert slowed.difference.low <= -0.05 <= slowed.difference.high
    twin = next(each for each in seen.twin if each.metric == "throughput")
    assert excludes_zero(slowed)
    assert not excludes_zero(twin)


def excludes_zero(comparison: Comparison) -> bool:
    low, high = comparison.difference.low, comparison.difference.high
    assert low is not None
    assert high is not None
    return low > 0 or high < 0
