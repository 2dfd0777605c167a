"""The negative control in words: nothing differs, or everything is in doubt."""

from __future__ import annotations

from test_report_text import shown

from dunnage.findings.control.sentences import (
    control_differs,
    control_holds,
    neighbours_withhold,
)
from dunnage.model.analysis import Analysis
from dunnage.model.control import ControlDifference, ControlMoment, NeighbourCost
from dunnage.model.estimate import Estimate
from dunnage.report.terminal.brief import brief
from report_samples import sample


def found(low: float, high: float, control: str = "loopback") -> ControlDifference:
    return ControlDifference(
        control=control,
        deployment="docker-bridge",
        baseline="native",
        difference=Estimate(
            value=(low + high) / 2, low=low, high=high, n=8, unit="share", method=""
        ),
    )


def controlled(*differences: ControlDifference) -> Analysis:
    return sample().analysis.model_copy(update={"control": differences})


def test_what_does_not_differ_says_how_much_it_could_have_missed() -> None:
    analysis = controlled(found(-0.01, 0.02), found(-0.004, 0.003, "arithmetic"))
    assert control_differs(analysis) == ""
    assert control_holds(analysis) == (
        "a piece of arithmetic and an exchange over loopback on the client's host, measured before "
        "each deployment existed, do not differ between deployments; their intervals reach to "
        "±2.0 %"
    )


def test_in_turns_it_says_that_it_was_measured_after_them() -> None:
    after = found(-0.01, 0.02).model_copy(update={"moment": ControlMoment.AFTER_TURN})
    assert "measured after each turn, do not differ" in control_holds(controlled(after))


def test_what_differs_puts_the_blocks_in_doubt_before_anything_else() -> None:
    analysis = controlled(found(0.05, 0.09), found(-0.004, 0.003, "arithmetic"))
    assert control_holds(analysis) == ""
    assert "an exchange over loopback of docker-bridge +7.0 % (+5.0 … +9.0 %)" in control_differs(
        analysis
    )
    made = sample()
    assert "differences of 9.0 % or less are not reliable" in " ".join(
        shown(brief(analysis, made.study, made.plan)).split()
    )


def neighbours(low: float, high: float) -> Analysis:
    estimate = Estimate(value=(low + high) / 2, low=low, high=high, n=8, unit="share", method="")
    cost = NeighbourCost(metric="throughput", difference=estimate)
    return sample().analysis.model_copy(update={"neighbours": (cost,)})


def test_neighbours_that_cost_too_much_withhold_what_is_said_of_a_metric() -> None:
    made = sample()
    spoilt = neighbours(-0.14, -0.09)
    assert neighbours_withhold(spoilt).startswith(
        "deployments that live side by side have their throughput (all) lowered by 9.0 % at least"
    )
    assert "Measure without `turns`" in " ".join(
        shown(brief(spoilt, made.study, made.plan)).split()
    )
    assert "lowered by 60.0 % at least" in neighbours_withhold(neighbours(-0.7, -0.6))
    assert "raised by 9.0 % at least" in neighbours_withhold(neighbours(0.09, 0.14))
    assert neighbours_withhold(neighbours(-0.03, 0.01)) == neighbours_withhold(made.analysis) == ""


def test_a_result_without_a_control_says_nothing() -> None:
    assert control_differs(controlled()) == control_holds(controlled()) == ""
