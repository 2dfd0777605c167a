"""Two results of one study: the same overhead is the same, another one is found."""

from __future__ import annotations

from analysis_study import STUDY, plan, records, stays

from dunnage.findings.analyse import analyse
from dunnage.findings.two_results.overhead import overhead_changes
from dunnage.model.analysis import Analysis
from dunnage.model.metrics import HEADLINE


def result(overhead: float, seed: int, blocks: int = 8) -> Analysis:
    planned = plan(blocks)
    made = records(planned, overhead, seed=seed)
    return analyse(STUDY, planned, made, stays(planned), {}, lambda _: None)


def test_two_results_with_the_same_overhead_show_no_difference_after_correction() -> None:
    found = overhead_changes(result(0.05, 1), result(0.05, 2))
    assert {(cell.deployment, cell.metric) for cell in found} == {
        (name, metric) for name in ("twin", "docker") for metric in HEADLINE
    }
    assert not any(change.without_zero for change in found.values())


def test_another_overhead_is_found_in_the_deployment_that_has_it() -> None:
    found = overhead_changes(result(0.0, 1), result(0.10, 2))
    differing = {
        (cell.deployment, cell.metric) for cell, change in found.items() if change.without_zero
    }
    assert differing == {("docker", metric) for metric in HEADLINE}


def test_a_result_against_itself_differs_by_nothing() -> None:
    one = result(0.05, 1)
    assert {change.value for change in overhead_changes(one, one).values()} == {0.0}


def test_too_few_blocks_show_no_difference_and_have_no_interval() -> None:
    found = overhead_changes(result(0.0, 1, 3), result(0.5, 2, 3))
    assert found and not any(change.without_zero for change in found.values())
    assert {change.low for change in found.values()} == {None}
