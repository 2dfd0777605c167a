"""The studies that Dunnage ships, carried out for real: is the number true?"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from study_process import answered

from dunnage.analysis.between import between
from dunnage.model.analysis import Analysis, Estimate
from study_worth import in_short, insist_it_answered

pytestmark = [pytest.mark.live, pytest.mark.proof, pytest.mark.timeout(2400)]

Record = Callable[[str, object], None]
"""pytest's `record_property`: what is recorded as `seen` stands in `docs/proofs.md`."""
SHIPPED = {"scalability": 40, "capacity": 40, "cassandra-docker": 150}
"""Studies that no other test here carries out as a whole → minutes that they may take."""


@pytest.fixture(scope="module")
def quickstarts(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    """Two quickstarts on this machine, one after the other."""
    results = tmp_path_factory.mktemp("quickstarts")
    return [answered("quickstart", "--results", str(results)) for _ in range(2)]


def analysis(answer: dict[str, Any], record: Record) -> Analysis:
    """The analysis of a study that was carried out whole, and what it says in short on record."""
    seen = Analysis.model_validate(answer["analysis"])
    record("seen", in_short(seen))
    insist_it_answered(seen)
    assert all(each.difference.low is not None for each in seen.twin)
    return seen


@pytest.mark.timeout(10_000)
@pytest.mark.parametrize("study", SHIPPED)
def test_a_shipped_study_answers_with_valid_runs_and_complete_blocks(
    study: str, tmp_path: Path, record_property: Record
) -> None:
    words = ("run", f"studies/{study}.yaml", "--results", str(tmp_path))
    answer = answered(*words, minutes=SHIPPED[study])
    seen = analysis(answer, record_property)
    assert seen.answers
    assert all(one.comparisons for one in seen.answers)
    assert Path(answer["page"]).stat().st_size > 10_000


def test_the_quickstart_answers_with_valid_runs_and_complete_blocks(
    quickstarts: list[dict[str, Any]], record_property: Record
) -> None:
    for answer in quickstarts:
        seen = analysis(answer, record_property)
        assert seen.valid >= 0.9 * seen.planned
        assert all(one.complete_blocks >= 6 for one in seen.answers)
        asked = [each for one in seen.answers for each in one.comparisons]
        assert all(each.difference.low is not None and each.bound is not None for each in asked)
        assert Path(answer["page"]).stat().st_size > 10_000


def test_two_quickstarts_on_the_same_machine_show_no_difference(
    quickstarts: list[dict[str, Any]], record_property: Record
) -> None:
    first, second = (analysis(answer, record_property) for answer in quickstarts)
    shifts = between(first, second)
    assert shifts
    differ = sum(shift.differs for shift in shifts)
    record_property("seen", f"{differ} of {len(shifts)} comparisons differ")
    assert [shift for shift in shifts if shift.differs] == []


def test_docker_with_a_bridge_costs_redis_something(
    quickstarts: list[dict[str, Any]], record_property: Record
) -> None:
    """Address translation and a proxy cannot be free: else the instrument sees nothing."""
    for answer in quickstarts:
        costs = [
            each
            for one in analysis(answer, record_property).answers
            for each in one.comparisons
            if each.deployment == "docker-bridge" and each.metric == "cpu.database"
        ]
        assert len(costs) == 2
        record_property("seen", "; ".join(f"{said(each.difference)} CPU" for each in costs))
        intervals = [interval(each.difference) for each in costs]
        # They hold together: one that leaves out zero shows a cost, whatever the others say.
        assert any(low > 0 for low, _ in intervals), f"every interval holds zero: {intervals}"
        assert all(high > 0 for _, high in intervals), f"CPU is saved: {intervals}"


def test_a_known_slowdown_is_found_and_its_twin_is_not(
    tmp_path: Path, record_property: Record
) -> None:
    answer = answered("run", "studies/known-slowdown.yaml", "--results", str(tmp_path))
    seen = analysis(answer, record_property)
    ((slowed,),) = (one.comparisons for one in seen.answers)
    (twin,) = (each for each in seen.twin if each.metric == "throughput")
    record_property("seen", f"slowed: {said(slowed.difference)}; twin: {said(twin.difference)}")
    realised = [run.paused for run in seen.runs if run.paused is not None]
    assert len(realised) >= 18
    assert all(0.04 <= share <= 0.06 for share in realised)
    low, high = interval(slowed.difference)
    assert not far_from(-sum(realised) / len(realised), slowed.difference)
    assert not far_from(0.0, twin.difference)
    # An interval of this width around the truth leaves out zero in 999 of 1000 tests.
    assert high - low <= 0.04, (
        f"the interval, {low:+.1%} to {high:+.1%}, is {100 * (high - low):.1f} points wide: "
        f"{100 * (high - low) - 4:.1f} too many to tell 5 % from nothing in 18 blocks"
    )
    assert high < 0, f"the interval, {low:+.1%} to {high:+.1%}, holds zero"


def said(estimate: Estimate) -> str:
    low, high = interval(estimate)
    return f"{estimate.value:+.1%} ({low:+.1%} … {high:+.1%})"


def interval(estimate: Estimate) -> tuple[float, float]:
    assert estimate.low is not None
    assert estimate.high is not None
    return estimate.low, estimate.high


def far_from(truth: float, estimate: Estimate) -> bool:
    """Whether an interval of twice the width leaves out the truth.

    A 95 % interval does so once in twenty runs of a test, for no other reason than chance; one of
    twice the width about once in ten thousand.
    """
    low, high = interval(estimate)
    margin = (high - low) / 2
    return not low - margin <= truth <= high + margin
