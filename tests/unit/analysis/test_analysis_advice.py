"""What would settle a question: blocks, time, or something else than blocks."""

from __future__ import annotations

import pytest
from analysis_study import plan, record, records, stays
from test_analysis_judge import judged

from dunnage.findings.variance.advice import advise, block_seconds
from dunnage.findings.variance.variance import RUN, STAY, STAY_AND_REACTION
from dunnage.model.analysis import Comparison, Ground, QuestionAnswer, Verdict
from dunnage.model.estimate import Estimate
from dunnage.model.value import Condition
from dunnage.model.variance import VariancePart, VarianceSplit

PLACE = Condition(deployment="docker", workload="A", level="t8")


def comparison(verdict: Verdict, needed: int | None = None, level: str = "t8") -> Comparison:
    return Comparison(
        question="RQ2",
        deployment="docker",
        baseline="native",
        metric="throughput",
        workload="A",
        level=level,
        difference=Estimate(value=0.1, low=0.0, high=0.2, n=6, unit="share", method="made up"),
        primary=True,
        by_block=(),
        family=2,
        hodges_lehmann=None,
        apart=0.0,
        tolerance=0.03,
        verdict=verdict,
        blocks_needed=needed,
        detectable=0.04 if level == "t8" else 0.07,
        ground=Ground.ACROSS,
    )


def answer(*comparisons: Comparison) -> QuestionAnswer:
    return QuestionAnswer(
        question="RQ2", comparisons=comparisons, factors={}, differences={}, complete_blocks=6
    )


def variance(**parts: float) -> VarianceSplit:
    def estimate(value: float) -> Estimate:
        return Estimate(value=value, low=None, high=None, n=6, unit="log²", method="made up")

    return VarianceSplit(
        metric="throughput",
        workload="A",
        level="t8",
        parts=tuple(
            VariancePart(part=name, variance=estimate(v), spread=0, share=0.5, truncated=False)
            for name, v in parts.items()
        ),
        deployments=("native", "twin"),
        blocks=6,
        absent=(),
    )


OPEN = Verdict.INCONCLUSIVE


def test_a_question_needs_the_most_that_any_of_its_comparisons_needs() -> None:
    found = advise(answer(comparison(OPEN, 9), comparison(OPEN, 20, "t32")), (), 600.0)
    assert (found.more_blocks, found.seconds, found.settled) == (14, 8400.0, 0)
    assert found.detectable == 0.07


def test_a_settled_question_needs_nothing() -> None:
    found = advise(answer(comparison(Verdict.EQUIVALENT), comparison(Verdict.OVERHEAD)), (), 600.0)
    assert (found.more_blocks, found.settled, found.unsettled) == (0, 2, ())


def test_what_no_number_of_blocks_settles_is_named() -> None:
    found = advise(answer(comparison(OPEN), comparison(OPEN, 7, "t32")), (), None)
    assert (found.more_blocks, found.unsettled) == (1, (PLACE,))
    every = advise(answer(comparison(OPEN), comparison(OPEN, None, "t32")), (), None)
    assert (every.more_blocks, len(every.unsettled)) == (None, 2)


def test_below_six_blocks_they_allow_an_interval_and_no_more() -> None:
    short = comparison(OPEN, 6)
    lacking = short.difference.model_copy(update={"low": None, "high": None, "n": 4})
    found = advise(answer(short.model_copy(update={"difference": lacking})), (), 30.0)
    assert (found.more_blocks, found.short, found.seconds) == (2, True, 60.0)


def test_secondary_comparisons_ask_for_nothing() -> None:
    aside = comparison(OPEN, 500, "t32").model_copy(update={"primary": False})
    found = advise(answer(comparison(Verdict.GAIN), aside), (), 30.0)
    assert (found.comparisons, found.more_blocks) == (1, 0)


def test_a_hundred_thousand_blocks_are_no_advice() -> None:
    found = advise(answer(comparison(OPEN, 97_181), comparison(OPEN, 8, "t32")), (), 60.0)
    assert (found.more_blocks, found.unsettled) == (2, (PLACE,))


def test_nothing_compared_is_said() -> None:
    found = advise(answer(), (), None)
    assert (found.comparisons, found.more_blocks) == (0, None)


@pytest.mark.parametrize(("stay", "run", "said"), [(0.1, 0.4, True), (0.4, 0.1, False)])
def test_where_runs_of_a_stay_differ_most_repetition_helps_more(
    stay: float, run: float, said: bool
) -> None:
    found = advise(answer(comparison(OPEN, 20)), [variance(**{STAY: stay, RUN: run})], 60.0)
    assert found.repeat_helps == said
    settled = advise(answer(comparison(Verdict.GAIN)), [variance(**{STAY: stay, RUN: run})], 60.0)
    assert not settled.repeat_helps


def test_without_twins_the_stays_part_is_not_known_and_nothing_is_said_of_repetition() -> None:
    split = variance(**{STAY_AND_REACTION: 0.1, RUN: 0.4})
    assert not advise(answer(comparison(OPEN, 20)), [split], 60.0, 2).repeat_helps


@pytest.mark.parametrize(("repeat", "said"), [(2, True), (4, False)])
def test_runs_count_in_a_stays_mean_by_their_number(repeat: int, said: bool) -> None:
    split = variance(**{STAY: 0.15, RUN: 0.4})
    found = advise(answer(comparison(OPEN, 20)), [split], 60.0, repeat)
    assert found.repeat_helps == said


def test_blocks_are_timed_from_start_to_start_and_a_break_counts_once() -> None:
    made = [
        record(block=block, started=start, ended=start + 80)
        for block, start in enumerate([0.0, 100.0, 200.0, 9000.0], start=1)
    ]
    assert block_seconds(made, ()) == 100
    assert block_seconds(made[:1], ()) == 80
    assert block_seconds((), ()) is None


def test_every_question_of_a_study_has_its_advice() -> None:
    planned = plan()
    analysis = judged(planned, records(planned, 0.022, noise=0.01), stays(planned))
    assert [found.question for found in analysis.advice] == ["RQ1", "RQ2"]
    for found, answered in zip(analysis.advice, analysis.answers, strict=True):
        needed = [
            c.blocks_needed - c.difference.n
            for c in answered.comparisons
            if c.blocks_needed is not None
        ]
        assert found.more_blocks == max(needed, default=0)
