"""The studies that Dunnage ships, carried out for real: is the number true?"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from published import PUBLISHED
from study_process import answered

from dunnage.findings.losses.agreement import agreements
from dunnage.findings.two_results.overhead import overhead_changes
from dunnage.model.analysis import Analysis, Comparison, Verdict
from dunnage.model.estimate import Estimate
from dunnage.units import duration
from study_told import agreement, ladders
from study_worth import in_short, insist_it_answered, insist_it_is_whole

pytestmark = [pytest.mark.live, pytest.mark.proof, pytest.mark.quiet, pytest.mark.timeout(4800)]

Record = Callable[[str, object], None]
"""pytest's `record_property`: what is recorded as `seen` stands in `docs/proofs.md`."""
SHIPPED = {
    "scalability": 40,
    "capacity": 40,
    "cassandra-docker": 150,
    "swarm": 60,
    "kubernetes": 60,
    "orchestrators": 60,
    "orchestrators-cassandra": 90,
}
"""Studies that no other test here carries out as a whole → minutes that they may take."""
ON_KUBERNETES = {"kubernetes", "orchestrators", "orchestrators-cassandra"}

LATE = 1.5
"""How many times its minutes a study may take before it is ended. It fails before, but what it
found is on record."""

QUICKSTARTS = 5
WIDEST = {"A": 0.045, "C": 0.035}
"""Workload → what the median half width of Docker's host network in throughput may be."""


@pytest.fixture(scope="module")
def quickstarts(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    """Several quickstarts on this machine, one after the other."""
    results = tmp_path_factory.mktemp("quickstarts")
    answers = []
    for _ in range(QUICKSTARTS):
        began = time.monotonic()
        answers.append(answered("quickstart", "--results", str(results)))
        answers[-1]["took"] = duration(time.monotonic() - began)
    return answers


def analysis(answer: dict[str, Any], record: Record) -> Analysis:
    """The analysis of a study that was carried out whole, and what it says in short on record."""
    seen = Analysis.model_validate(answer["analysis"])
    record("seen", in_short(seen))
    insist_it_answered(seen)
    assert all(each.difference.low is not None for each in seen.twin)
    return seen


@pytest.mark.parametrize(
    "study",
    [
        pytest.param(
            name,
            marks=[
                pytest.mark.timeout(60 * minutes * LATE),
                *([pytest.mark.kubernetes] if name in ON_KUBERNETES else []),
            ],
        )
        for name, minutes in SHIPPED.items()
    ],
)
def test_a_shipped_study_answers_with_valid_runs_and_complete_blocks(
    study: str, tmp_path: Path, record_property: Record
) -> None:
    began = time.monotonic()
    answer = answered("run", f"studies/{study}.yaml", "--results", str(tmp_path))
    took = time.monotonic() - began
    seen = Analysis.model_validate(answer["analysis"])
    record_property("seen", f"took {duration(took)} of {SHIPPED[study]} min; {in_short(seen)}")
    publication = PUBLISHED.get(study)
    published = dict(publication.told if publication else {})
    for one in seen.answers:
        for each in one.comparisons:
            if each.primary:
                beside = published.pop((one.question, each.deployment, each.workload), None)
                told = f"; published: {beside}" if beside else ""
                cell = f"{one.question}: {each.deployment} {each.metric} {each.workload}"
                record_property("seen", f"{cell} {said(each.difference)} {each.verdict}{told}")
    for told in (*ladders(seen), *agreement(seen, publication)):
        record_property("seen", told)
    assert not published
    assert seen.answers
    assert all(one.comparisons for one in seen.answers)
    assert Path(answer["page"]).stat().st_size > 10_000
    insist_it_is_whole(seen)
    assert all(each.difference.low is not None for each in seen.twin)
    assert took <= 60 * SHIPPED[study], f"it took {duration(took)}"


def test_the_quickstart_answers_with_valid_runs_and_complete_blocks(
    quickstarts: list[dict[str, Any]], record_property: Record
) -> None:
    for answer in quickstarts:
        record_property("seen", answer["took"])
        seen = analysis(answer, record_property)
        assert seen.valid >= 0.9 * seen.planned
        assert all(one.complete_blocks >= 6 for one in seen.answers)
        asked = [each for one in seen.answers for each in one.comparisons]
        assert all(each.difference.low is not None and each.apart is not None for each in asked)
        assert Path(answer["page"]).stat().st_size > 10_000


def test_two_quickstarts_on_the_same_machine_show_no_difference(
    quickstarts: list[dict[str, Any]], record_property: Record
) -> None:
    first, second = (analysis(answer, record_property) for answer in quickstarts[:2])
    changes = overhead_changes(first, second)
    assert changes
    differing = [cell for cell, change in changes.items() if change.without_zero]
    record_property("seen", f"{len(differing)} of {len(changes)} comparisons differ")
    assert differing == []


def test_quickstarts_are_narrow_enough_to_answer(
    quickstarts: list[dict[str, Any]], record_property: Record
) -> None:
    for workload, widest in WIDEST.items():
        halves = []
        for answer in quickstarts:
            seen = Analysis.model_validate(answer["analysis"])
            (found,) = asked(seen, "docker-host", "throughput", workload)
            low, high = interval(found.difference)
            halves.append((high - low) / 2)
        told = ", ".join(f"{half:.1%}" for half in halves)
        record_property("seen", f"{workload}: half widths {told}")
        assert statistics.median(halves) <= widest, f"{workload}: {told}"


def test_docker_with_a_bridge_costs_redis_throughput_and_processor_time(
    quickstarts: list[dict[str, Any]], record_property: Record
) -> None:
    """Address translation and a proxy cannot be free: else the instrument sees nothing."""
    for answer in quickstarts:
        seen = Analysis.model_validate(answer["analysis"])
        found = [
            each
            for metric in ("throughput", "cpu.database")
            for workload in WIDEST
            for each in asked(seen, "docker-bridge", metric, workload)
        ]
        told = "; ".join(f"{each.metric} {each.workload} {said(each.difference)}" for each in found)
        record_property("seen", told)
        assert [each.verdict for each in found] == [Verdict.OVERHEAD] * 4, told


def test_twins_rarely_differ(quickstarts: list[dict[str, Any]], record_property: Record) -> None:
    """Where they do, identical deployments were told apart: one study in five may, not two."""
    vetoed = []
    for number, answer in enumerate(quickstarts, start=1):
        seen = Analysis.model_validate(answer["analysis"])
        metrics = {each.metric for one in seen.answers for each in one.comparisons}
        apart = [
            f"{each.metric} {each.workload} {said(each.difference)}"
            for each in seen.twin
            if each.metric in metrics and each.difference.without_zero
        ]
        record_property("seen", f"quickstart {number}: {'; '.join(apart) or 'alike'}")
        vetoed += apart[:1]
    assert len(vetoed) <= 1, vetoed


def asked(seen: Analysis, deployment: str, metric: str, workload: str) -> list[Comparison]:
    """What a question says of a deployment."""
    return [
        each
        for one in seen.answers
        for each in one.comparisons
        if (each.deployment, each.metric, each.workload) == (deployment, metric, workload)
    ]


@pytest.mark.parametrize("number", range(1, 11))
def test_a_known_loss_is_found_and_its_twin_is_not(
    number: int, tmp_path: Path, record_property: Record
) -> None:
    """Each time it is measured again what is lost, and whether the answer agrees.

    Each has orders of its own: one order, however balanced, is not ten pieces of evidence. Of ten
    intervals of 95 % of twins one or more leave zero in four sets of ten.
    """
    study = tmp_path / "study.yaml"
    study.write_text(f"{Path('studies/known-slowdown.yaml').read_text()}\nseed: {number}\n")
    answer = answered("run", str(study), "--results", str(tmp_path))
    seen = analysis(answer, record_property)
    ((slowed,),) = (one.comparisons for one in seen.answers)
    (twin,) = (each for each in seen.twin if each.metric == "throughput")
    known = seen.losses["slowed"]
    assert known.checked is not None
    (agreement,) = agreements(seen)
    record_property(
        "seen",
        f"lost before {said(known.loss)}, after {said(known.checked)}; "
        f"slowed: {said(slowed.difference)}; twin: {said(twin.difference)}; "
        f"read less known: {agreement.difference:+.1%} ({agreement.low:+.1%} … "
        f"{agreement.high:+.1%})",
    )
    realised = [run.paused for run in seen.runs if run.paused is not None]
    assert len(realised) >= 18
    assert all(abs(share - known.share) <= 0.01 for share in realised)
    assert known.loss.low is not None and known.loss.high is not None
    assert known.loss.low >= 0.045 and known.loss.high <= 0.055
    assert abs(known.checked.value - known.loss.value) <= 0.01
    low, high = interval(slowed.difference)
    assert high < 0, f"the interval, {low:+.1%} to {high:+.1%}, holds zero"
    assert slowed.verdict is Verdict.OVERHEAD
    assert agreement.holds, "what was read does not agree with what is known"
    assert not twin.difference.without_zero


def said(estimate: Estimate) -> str:
    low, high = interval(estimate)
    return f"{estimate.value:+.1%} ({low:+.1%} … {high:+.1%})"


def interval(estimate: Estimate) -> tuple[float, float]:
    assert estimate.low is not None
    assert estimate.high is not None
    return estimate.low, estimate.high
