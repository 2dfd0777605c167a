"""Reasons are told once, with how many runs they are of; the cause comes before its effects."""

import pytest

from dunnage.analysis.checks import GATES
from dunnage.model.analysis import Analysis
from dunnage.report import reasons
from dunnage.report.trouble import trouble
from report_samples import nothing_measured, sample


def steal(share: float, host: str) -> str:
    return f"steal: {share} % seen by {host}; wanted below 5.0 % of CPU time"


def test_reasons_that_differ_in_figures_and_hosts_are_one_with_a_range() -> None:
    found = reasons.grouped([steal(7.3, "client-1"), steal(12.1, "db-2"), steal(6.0, "client-1")])
    assert [(each.runs, each.text) for each in found] == [
        (3, "steal: 6.0 to 12.1 % seen by client-1, db-2; wanted below 5.0 % of CPU time")
    ]


def test_other_reasons_stay_apart_and_the_most_frequent_comes_first() -> None:
    found = reasons.grouped(["swap: 3 MiB on db-1", steal(6.0, "db-1"), steal(7.0, "db-1")])
    assert [each.gate for each in found] == ["steal", "swap"]


@pytest.mark.parametrize(
    ("texts", "one"),
    [
        (["1,204 of 9", "87 of 9"], "87 to 1,204 of 9"),
        (["by +52.0 %", "by -60.1 %"], "by -60.1 to +52.0 %"),
        (["to 10.0.0.2", "to 10.0.0.1"], "to 10.0.0.1, 10.0.0.2"),
        (["on a-1", "on a-2", "on a-3", "on a-4", "on a-5"], "on a-1, a-2, a-3 and 2 more"),
        (["x86 of sha256 4f", "x86 of sha256 4f"], "x86 of sha256 4f"),
    ],
)
def test_figures_become_ranges_and_names_lists(texts: list[str], one: str) -> None:
    assert reasons.merged(texts) == one


def test_every_gate_has_plain_words() -> None:
    assert set(GATES) - {"iowait"} <= set(reasons.CAUSES)


def test_what_may_differ_has_other_words_than_what_does() -> None:
    found = reasons.grouped(["parity: other heap", "parity unknown: heap"])
    assert len({each.cause for each in found}) == 2
    assert {each.cause for each in found} <= set(reasons.CAUSES.values())


def spoilt(*given: tuple[str, ...]) -> Analysis:
    analysis = sample().analysis
    runs = tuple(
        run.model_copy(update={"status": "invalid", "reasons": why})
        for run, why in zip(analysis.runs, given, strict=False)
    )
    return analysis.model_copy(
        update={"runs": runs, "planned": len(runs), "valid": 0, "invalid": len(runs), "missing": 0}
    )


def test_a_run_with_two_reasons_counts_once_under_the_one_that_brings_the_other_about() -> None:
    steady = "steady: +61.0 % over 20 windows, 0 empty; wanted less"
    found = reasons.first_causes(spoilt((steady, steal(9.0, "db-1")), (steady,)))
    assert {gate: sum(each.runs for each in group) for gate, group in found.items()} == {
        "steal": 1,
        "steady": 1,
    }


def test_when_nothing_counts_the_first_words_are_that_and_the_commonest_cause() -> None:
    found = trouble(spoilt((steal(9.0, "db-1"),), (steal(8.0, "db-1"),), ("parity: other heap",)))
    assert found is not None
    assert found.grave
    assert found.headline == "None of the 3 planned runs can be used."
    assert found.causes[0] == (
        "2 runs: somebody else on this physical machine took processor time "
        "(8.0 to 9.0 % seen by db-1; wanted: below 5.0 % of CPU time)."
    )
    assert found.causes[1] == ("1 run: the deployments did not run the same thing (other heap).")


def test_runs_that_never_happened_are_told_with_the_failure_behind_them() -> None:
    found = trouble(nothing_measured(), ["no dockerd on db-1", "no dockerd on db-2"])
    assert found is not None
    assert found.causes == ("60 runs did not happen: no dockerd on db-1, db-2.",)


def test_a_study_that_went_well_has_no_trouble() -> None:
    assert trouble(sample().analysis) is None
