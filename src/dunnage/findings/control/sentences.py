"""What the negative control and neighbours tell, in sentences."""

from __future__ import annotations

import math

from dunnage.model.analysis import Analysis
from dunnage.model.control import ControlDifference, ControlMoment
from dunnage.wording import numbers, terms

NAMES = {"arithmetic": "a piece of arithmetic", "loopback": "an exchange over loopback"}
MOMENTS = {
    ControlMoment.BEFORE_STAY: "before each deployment existed",
    ControlMoment.AFTER_TURN: "after each turn",
}


def control_differs(analysis: Analysis) -> str:
    """That something which no deployment can change differs; empty where nothing does."""
    differing = [control for control in analysis.control if control.difference.without_zero]
    if not differing:
        return ""
    listed = "; ".join(map(_difference, differing))
    largest = max(control.difference.reach or 0.0 for control in differing)
    return (
        f"What no deployment can change, measured {MOMENTS[differing[0].moment]}, differs between "
        f"deployments: {listed}. The order, what a deployment left behind, or the machine caused "
        f"this. So other differences of {numbers.most(largest)} or less are not reliable either."
    )


def control_holds(analysis: Analysis) -> str:
    """That the control found nothing, and what it could have missed; empty without intervals."""
    known = [control for control in analysis.control if control.difference.low is not None]
    if not known or control_differs(analysis):
        return ""
    reach = max(control.difference.reach or 0.0 for control in known)
    return (
        f"{terms.listed(sorted({NAMES.get(each.control, each.control) for each in known}))} on the "
        f"client's host, measured {MOMENTS[known[0].moment]}, do not differ between deployments; "
        f"their intervals reach to {numbers.bound(reach)}"
    )


def _difference(control: ControlDifference) -> str:
    difference = control.difference
    ends = numbers.interval(difference)
    what = NAMES.get(control.control, terms.plain(control.control))
    return f"{what} of {terms.plain(control.deployment)} {numbers.seen(difference)} ({ends})"


def neighbours_withhold(analysis: Analysis) -> str:
    """Of which metrics nothing is claimed, as neighbours cost too much; empty where of none."""
    tolerances: dict[str, float] = {}
    for compared in (each for asked in analysis.answers for each in asked.comparisons):
        strictest = min(compared.tolerance, tolerances.get(compared.metric, math.inf))
        tolerances[compared.metric] = strictest
    told = []
    for neighbours in analysis.neighbours:
        each = {"": neighbours.difference, **neighbours.uneven}
        for name, difference in each.items():
            cost = difference.apart or 0.0
            if cost > tolerances.get(neighbours.metric, math.inf):
                whose = f"that of {terms.plain(name)} more than others'" if name else "all"
                lowered = difference.high is not None and difference.high < 0
                way, by = ("lowered", -(difference.high or 0.0)) if lowered else ("raised", cost)
                told.append(
                    f"{terms.phrase(neighbours.metric)} ({whose}) {way} by {numbers.least(by)}"
                )
    if not told:
        return ""
    return (
        f"deployments that live side by side have their {'; '.join(told)} at least: more than the "
        "tolerance, so nothing is claimed there. Measure without `turns`."
    )


def neighbours_cost(analysis: Analysis) -> str:
    """What it cost that deployments lived side by side; empty where they did not."""
    known = [neighbours for neighbours in analysis.neighbours if neighbours.difference.n]
    if not known:
        return ""
    told = [
        f"{terms.phrase(neighbours.metric)} {numbers.seen(neighbours.difference)} "
        f"({numbers.interval(neighbours.difference)})"
        for neighbours in known
    ]
    text = f"deployments that live side by side, compared with the same alone: {'; '.join(told)}"
    uneven = [
        f"{terms.plain(name)}'s {terms.phrase(neighbours.metric)} ({numbers.interval(difference)})"
        for neighbours in known
        for name, difference in neighbours.uneven.items()
    ]
    return f"{text}; more than for the baseline: {', '.join(uneven)}" if uneven else text
