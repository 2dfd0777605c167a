"""What is known of a loss of throughput stands in the terminal's details and on the page."""

from __future__ import annotations

import math

import pytest

from dunnage.findings.losses.agreement import agreements
from dunnage.findings.losses.sentences import losses
from dunnage.model.analysis import Analysis, Ground
from dunnage.model.damage import Damage, Flaw
from dunnage.model.estimate import Estimate
from dunnage.model.loss import KnownLoss
from report_samples import sample

LOSS = Estimate(value=0.05, low=0.0461, high=0.0538, n=400, unit="share", method="m")
FOUND = KnownLoss(asked=0.05, share=0.037, loss=LOSS, steps=())


def test_a_loss_says_what_was_asked_what_was_done_and_what_it_lost() -> None:
    made = sample().analysis.model_copy(update={"losses": {"slowed": FOUND}})
    assert losses(made) == (
        "slowed must lose 5.0 % of throughput: before block 1 its servers were stopped for 3.7 % "
        "of the time, and the loss was between 4.6 and 5.4 % (400 pairs of pieces of one stay); it "
        "was not measured again after the last block",
    )


def test_a_check_says_whether_the_loss_is_still_what_was_asked_for() -> None:
    def told(**ends: float) -> str:
        checked = FOUND.model_copy(update={"checked": LOSS.model_copy(update=ends)})
        (text,) = losses(sample().analysis.model_copy(update={"losses": {"slowed": checked}}))
        return text

    assert told(value=0.052).endswith(
        "after the last block it was 5.2 %, between 4.6 and 5.4 % (400 pairs of pieces of one stay)"
    )
    text = told(value=0.06, low=0.055, high=0.065)
    assert text.endswith("so it is known only as far as both tell")


def test_where_nothing_shall_be_lost_nothing_is_said() -> None:
    assert losses(sample().analysis) == ()


def read_as(
    value: float, low: float, high: float, found: KnownLoss = FOUND, level: float = 0.95
) -> Analysis:
    """An analysis whose first question reads the loss of one deployment so."""
    analysis = sample().analysis
    first, *others = analysis.answers
    comparison = next(each for each in first.comparisons if each.metric == "throughput")
    read = comparison.difference.model_copy(
        update={"value": value, "low": low, "high": high, "level": level}
    )
    asked = comparison.model_copy(update={"difference": read, "primary": True})
    answers = (first.model_copy(update={"comparisons": (asked,)}), *others)
    return analysis.model_copy(
        update={"answers": answers, "losses": {asked.deployment: found}},
    )


def test_a_loss_that_was_read_agrees_within_both_intervals() -> None:
    (near,) = agreements(read_as(-0.045, -0.051, -0.039))
    assert near.difference == pytest.approx(0.005)
    assert near.low == pytest.approx(0.005 - math.hypot(0.006, 0.0039))
    assert near.high == pytest.approx(0.005 + math.hypot(0.006, 0.0038))
    assert near.holds
    (far,) = agreements(read_as(-0.04, -0.045, -0.035))
    assert not far.holds


def test_what_was_lost_after_the_last_block_counts_as_well() -> None:
    checked = LOSS.model_copy(update={"value": 0.04, "low": 0.036, "high": 0.044, "n": 400})
    found = FOUND.model_copy(update={"checked": checked})
    (agreement,) = agreements(read_as(-0.041, -0.045, -0.037, found))
    assert agreement.known == pytest.approx(0.045)
    assert agreement.low == pytest.approx(0.004 - math.hypot(0.004, 0.045 - 0.036))
    assert agreement.high == pytest.approx(0.004 + math.hypot(0.004, 0.0538 - 0.045))


def test_at_a_second_look_what_is_known_has_the_coverage_of_the_look() -> None:
    (first,) = agreements(read_as(-0.045, -0.051, -0.039))
    (second,) = agreements(read_as(-0.045, -0.051, -0.039, level=0.9875))
    assert first.difference == second.difference
    assert second.low == pytest.approx(
        0.005 - math.hypot(0.006, 0.0039 * 2.4977 / 1.95996), rel=1e-4
    )


def test_the_report_says_whether_what_was_read_agrees_with_what_is_known() -> None:
    *_, text = losses(read_as(-0.045, -0.051, -0.039))
    assert "agrees with the 5.0 % that is known to be lost" in text
    assert "the difference is +0.5 percentage points (−0.2 … +1.2)" in text
    *_, text = losses(read_as(-0.02, -0.021, -0.019))
    assert "does not agree with the 5.0 %" in text


def test_an_answer_without_an_interval_is_compared_with_nothing() -> None:
    assert agreements(sample().analysis) == ()


@pytest.mark.parametrize(
    ("file", "told"),
    [("losses.json", 0), ("environment.json", 1), ("runs/b01/record.json", 1)],
)
def test_what_is_known_by_a_file_that_was_changed_agrees_with_nothing(file: str, told: int) -> None:
    run = "b01" if file.startswith("runs") else ""
    damage = Damage(file=file, flaw=Flaw.CHANGED, run=run)
    read = read_as(-0.045, -0.051, -0.039).model_copy(update={"damages": (damage,)})
    assert len(agreements(read)) == told


def test_an_answer_that_is_withheld_for_damage_agrees_with_nothing() -> None:
    read = read_as(-0.045, -0.051, -0.039)
    (asked,) = read.answers[0].comparisons
    withheld = asked.model_copy(update={"ground": Ground.DAMAGED})
    first = read.answers[0].model_copy(update={"comparisons": (withheld,)})
    assert agreements(read.model_copy(update={"answers": (first, *read.answers[1:])})) == ()


def test_a_difference_that_rounds_to_zero_has_no_sign() -> None:
    *_, text = losses(read_as(-0.0502, -0.056, -0.044))
    assert "the difference is 0.0 percentage points (" in text
