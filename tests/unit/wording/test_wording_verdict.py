"""Why a verdict is what it is, and what would settle a question."""

from __future__ import annotations

from typing import Any

import pytest

from dunnage.findings.variance.sentences import REPEAT, recommendations
from dunnage.model.analysis import Comparison, Ground, Overload, QuestionAnswer, Verdict
from dunnage.model.estimate import Estimate
from dunnage.model.value import Condition
from dunnage.model.variance import QuestionAdvice
from dunnage.wording.verdict import ON_AN_EDGE, reason


def comparison(ground: Ground, low: float = 0.01, high: float = 0.05, **more: Any) -> Comparison:
    given: dict[str, Any] = {
        "question": "RQ2",
        "primary": True,
        "deployment": "docker",
        "baseline": "native",
        "metric": "throughput",
        "workload": "A",
        "level": "t8",
        "by_block": (0.01,) * 4,
        "family": 1,
        "hodges_lehmann": None,
        "apart": 0.0,
        "tolerance": 0.03,
        "verdict": Verdict.INCONCLUSIVE,
        "blocks_needed": None,
        "detectable": None,
    }
    difference = Estimate(value=0.03, low=low, high=high, n=4, unit="share", method="made up")
    return Comparison(difference=difference, ground=ground, **{**given, **more})


@pytest.mark.parametrize(
    ("found", "says"),
    [
        (comparison(Ground.ACROSS), "The interval +1.0 % to +5.0 % crosses ±3 %."),
        (
            comparison(Ground.INSIDE, -0.01, 0.01),
            "The interval −1.0 % to +1.0 % is inside ±3 %.",
        ),
        (
            comparison(Ground.BEYOND, 0.1, 0.2),
            "The interval +10.0 % to +20.0 % is beyond the tolerance of ±3 %.",
        ),
        (
            comparison(Ground.BEYOND, 0.1, 0.2, apart=0.02),
            "The interval +10.0 % to +20.0 % is beyond the tolerance of ±3 %. Identical "
            "deployments differ by at least 2.0 %, which counts here.",
        ),
        (
            comparison(Ground.ACROSS, -0.005, 0.025, apart=0.01),
            "The interval −0.5 % to +2.5 % is neither far enough inside nor beyond ±3 %. "
            "Identical deployments differ by at least 1.0 %, which counts here.",
        ),
        (
            comparison(Ground.ON_AN_EDGE),
            f"The interval +1.0 % to +5.0 % crosses ±3 %. {ON_AN_EDGE}",
        ),
        (
            comparison(Ground.TOO_FEW_BLOCKS),
            "An interval needs 6 complete blocks: there are 4, 2 are missing.",
        ),
        (
            comparison(Ground.TOO_FEW_TWINS, twin_blocks=5),
            "An interval needs 6 complete blocks of the twin: there are 5, 1 is missing.",
        ),
        (
            comparison(
                Ground.OVERLOADED,
                overloads=(Overload(deployment="docker", over=2, runs=8, least=0.91),),
            ),
            "Over capacity: `docker` in 2 of 8 runs (91.0 % answered at worst) could not keep up "
            "with the offered rate, so latencies show the length of the run and are not compared.",
        ),
        (
            comparison(Ground.NEIGHBOURS, neighbours=0.05),
            "Other deployments beside it change a deployment's throughput by at least 5.0 %, more "
            "than ±3 %: measure without `turns`.",
        ),
    ],
)
def test_the_reason_is_plain(found: Comparison, says: str) -> None:
    assert reason(found) == says


@pytest.mark.parametrize("ground", [*Ground])
def test_every_ground_has_words(ground: Ground) -> None:
    assert reason(comparison(ground)).endswith(".")
    assert reason(comparison(ground, twins=True)).endswith("so that they can fail.")


def answered(question: str, *comparisons: Comparison) -> QuestionAnswer:
    return QuestionAnswer(
        question=question, comparisons=comparisons, factors={}, differences={}, complete_blocks=6
    )


def advice(question: str, comparisons: int = 1, **advised: Any) -> QuestionAdvice:
    given: dict[str, Any] = {
        "question": question,
        "comparisons": comparisons,
        "settled": 0,
        "more_blocks": 14,
        "short": False,
        "unsettled": (),
        "seconds": 8400.0,
        "detectable": None,
    }
    return QuestionAdvice(**{**given, **advised})


def asked(*comparisons: Comparison, **advised: Any) -> str:
    one = advice("RQ2", len(comparisons), **advised)
    return " ".join(recommendations([one], [answered("RQ2", *comparisons)]))


def test_blocks_and_time_are_named() -> None:
    across = comparison(Ground.ACROSS, blocks_needed=20)
    assert asked(across) == "14 more blocks would settle RQ2 (`--blocks +14`, about 2 h 20 min)."
    assert asked(across, short=True, more_blocks=1, seconds=None) == (
        "1 more block would allow an interval for RQ2 (`--blocks +1`)."
    )
    assert asked(across, more_blocks=0, settled=1) == ""
    assert asked() == ""
    assert "`repeat`" in asked(across, repeat_helps=True)


def test_what_blocks_do_not_settle_is_named_with_its_reason() -> None:
    stuck = (Condition(deployment="docker", workload="A", level="t8"),)
    lone = comparison(Ground.NO_TWIN)
    other = comparison(Ground.ACROSS, blocks_needed=7, level="t32")
    assert asked(lone, other, unsettled=stuck, more_blocks=1, seconds=None) == (
        "1 more block would settle the rest of RQ2 (`--blocks +1`). docker, A, t8: The study has "
        "no twin, so it is not known how far identical deployments differ."
    )
    assert asked(lone, unsettled=stuck, more_blocks=None) == f"RQ2: {reason(lone)}"


def test_a_hundred_thousand_blocks_are_no_advice_but_an_edge() -> None:
    stuck = (Condition(deployment="docker", workload="A", level="t8"),)
    far = comparison(Ground.ACROSS, blocks_needed=97_181)
    assert asked(far, unsettled=stuck, more_blocks=None) == f"RQ2: {ON_AN_EDGE}"


def several(*advised: QuestionAdvice) -> tuple[str, ...]:
    across = comparison(Ground.ACROSS, blocks_needed=20)
    return recommendations(advised, [answered(each.question, across) for each in advised])


def test_what_is_the_same_for_several_questions_is_said_once() -> None:
    alike = [advice(name, repeat_helps=True) for name in ("Q1", "Q2", "Q3")]
    assert several(*alike) == (
        f"14 more blocks would settle Q1, Q2 and Q3 (`--blocks +14`, about 2 h 20 min). {REPEAT}",
    )
    settled = advice("Q3", settled=1, more_blocks=0)
    assert several(*alike[:2], settled) == (
        f"14 more blocks would settle Q1 and Q2 (`--blocks +14`, about 2 h 20 min). {REPEAT}",
    )


def test_what_is_not_the_same_is_said_of_each_question() -> None:
    assert several(advice("Q1"), advice("Q2", more_blocks=3, seconds=None, repeat_helps=True)) == (
        "14 more blocks would settle Q1 (`--blocks +14`, about 2 h 20 min).",
        f"3 more blocks would settle Q2 (`--blocks +3`). Q2: {REPEAT}",
    )


def test_no_difference_that_is_there_is_called_zero() -> None:
    found = comparison(Ground.ACROSS, -0.0001, 0.05, apart=0.0004)
    assert reason(found) == (
        "The interval 0.0 % to +5.0 % is neither far enough inside nor beyond ±3 %. Identical "
        "deployments differ by at least 0.04 %, which counts here."
    )
