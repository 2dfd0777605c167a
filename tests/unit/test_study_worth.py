"""When a proof may be skipped: only where the records blame what is outside the study."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

import report_gates
import report_samples
from dunnage.analysis.checks.finding import count, share
from dunnage.model.analysis import Analysis
from dunnage.model.check import CheckResult
from study_worth import in_short, insist_it_answered, insist_it_is_whole

STEAL = report_gates.spoilt_by("steal", (share("steal", 0.12, "db-1"),), (share("steal", 0.05),))
OWN = report_gates.spoilt_by("errors", (count("errors", 3), count("operations", 9)))


def seen(*reasons: Sequence[CheckResult], blocks: int = 6) -> Analysis:
    """A study of which every run is valid but some, each spoilt for its reasons."""
    sample = report_samples.sample().analysis
    whole = [run.model_copy(update={"status": "valid", "checks": ()}) for run in sample.runs]
    spoilt = [
        run.model_copy(update={"status": "invalid", "checks": tuple(each)})
        for run, each in zip(whole, reasons, strict=False)
    ]
    answers = [each.model_copy(update={"complete_blocks": blocks}) for each in sample.answers]
    counted = {"planned": len(whole), "valid": len(whole) - len(spoilt), "invalid": len(spoilt)}
    rest = {"unknown": 0, "missing": 0, "answers": tuple(answers)}
    runs = (*spoilt, *whole[len(spoilt) :])
    return sample.model_copy(update={**counted, **rest, "runs": runs})


def test_a_study_with_enough_valid_runs_and_blocks_is_judged() -> None:
    insist_it_answered(seen())
    insist_it_answered(seen([STEAL], [OWN], blocks=6))


@pytest.mark.parametrize("reasons", [[], [[OWN]], [[STEAL], [OWN]], [[STEAL, OWN]]])
def test_blocks_that_are_missing_by_the_study_s_own_fault_fail(
    reasons: list[list[CheckResult]],
) -> None:
    with pytest.raises(AssertionError, match="complete blocks: "):
        insist_it_answered(seen(*reasons, blocks=5))


def test_runs_that_fail_by_the_study_s_own_fault_fail_and_say_how_many() -> None:
    many = [[OWN]] * (len(seen().runs) // 10 + 1)
    with pytest.raises(AssertionError, match=rf"^{len(many)} of {len(seen().runs)} runs: "):
        insist_it_answered(seen(*many))


def test_a_study_that_only_other_programs_and_machines_spoilt_is_skipped_by_name() -> None:
    with pytest.raises(pytest.skip.Exception, match=r"1 of .* from outside.*steal: 12.0 %"):
        insist_it_answered(seen([STEAL], blocks=5))
    many = [[STEAL]] * (len(seen().runs) // 10 + 1)
    with pytest.raises(pytest.skip.Exception, match=f"{len(many)} of .* disturbed from outside"):
        insist_it_answered(seen(*many))


def test_in_short_names_the_gates_that_spoilt_runs() -> None:
    value = seen([STEAL], [STEAL], [OWN], blocks=7)
    total, blocks = len(value.runs), len({run.block for run in value.runs})
    questions = ", ".join(f"{one.question} 7" for one in value.answers)
    assert in_short(value).startswith(
        f"{total - 3} of {total} runs valid, {1 - 3 / total:.1%} (errors 1 ×, steal 2 ×); "
        f"{blocks} of {blocks} blocks carried out to the end; complete blocks: {questions}; "
    )


def test_a_shipped_study_is_whole_with_nine_valid_runs_of_ten() -> None:
    few = [[STEAL]] * (len(seen().runs) // 10)
    insist_it_is_whole(seen(*few))
    with pytest.raises(AssertionError, match=rf"runs valid.*steal {len(few) + 1} ×"):
        insist_it_is_whole(seen(*few, [STEAL]))


def test_a_shipped_study_is_not_whole_without_all_its_runs_and_blocks_for_an_interval() -> None:
    whole = seen()
    blocks = len({run.block for run in whole.runs})
    counted = {"missing": 1, "valid": whole.valid - 1, "runs": whole.runs[1:]}
    with pytest.raises(AssertionError, match=f"{blocks - 1} of {blocks} blocks carried out"):
        insist_it_is_whole(whole.model_copy(update=counted))
    with pytest.raises(AssertionError, match="complete blocks"):
        insist_it_is_whole(seen(blocks=5))
