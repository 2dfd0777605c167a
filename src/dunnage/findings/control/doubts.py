"""The negative control in words."""

from __future__ import annotations

import math

from dunnage.findings.differences.verdict import apart
from dunnage.model.analysis import Analysis, ControlDifference, ControlMoment
from dunnage.wording import numbers, terms

NAMES = {"arithmetic": "a piece of arithmetic", "loopback": "an exchange over loopback"}
MOMENTS = {
    ControlMoment.BEFORE_STAY: "before each deployment was there",
    ControlMoment.AFTER_TURN: "after each turn",
}


def broken(analysis: Analysis) -> str:
    """That something which no deployment can change differs; empty where nothing does."""
    differing = [found for found in analysis.control if found.differs]
    if not differing:
        return ""
    listed = "; ".join(map(_said, differing))
    return (
        f"What no deployment can change, measured {MOMENTS[differing[0].moment]}, differs between "
        f"deployments: {listed}. The order, what a deployment left behind, or the machine caused "
        "this, so every other difference here is in doubt as well."
    )


def held(analysis: Analysis) -> str:
    """That the control found nothing, and what it could have missed; empty without intervals."""
    known = [found for found in analysis.control if found.difference.low is not None]
    if not known or broken(analysis):
        return ""
    return (
        f"{terms.listed(sorted({NAMES.get(each.control, each.control) for each in known}))} on the "
        f"client's host, measured {MOMENTS[known[0].moment]}, do not differ between deployments; "
        f"their intervals reach to {numbers.bound(max(map(_reach, known)))}"
    )


def _said(found: ControlDifference) -> str:
    difference = found.difference
    ends = numbers.interval(difference.low, difference.high)
    what = NAMES.get(found.control, terms.plain(found.control))
    return f"{what} of {terms.plain(found.deployment)} {numbers.seen(difference)} ({ends})"


def _reach(found: ControlDifference) -> float:
    low, high = found.difference.low, found.difference.high
    return max(abs(low or 0.0), abs(high or 0.0))


def withheld(analysis: Analysis) -> str:
    """Of which metrics nothing is claimed, as neighbours cost too much; empty where of none."""
    tolerances: dict[str, float] = {}
    for compared in (each for asked in analysis.answers for each in asked.comparisons):
        strictest = min(compared.tolerance, tolerances.get(compared.metric, math.inf))
        tolerances[compared.metric] = strictest
    told = []
    for found in analysis.neighbours:
        each = {"": found.difference, **found.uneven}
        for name, difference in each.items():
            cost = apart(difference) or 0.0
            if cost > tolerances.get(found.metric, math.inf):
                whose = f"that of {terms.plain(name)} more than others'" if name else "all"
                way = "lowered" if difference.value < 0 else "raised"
                told.append(
                    f"{terms.phrase(found.metric)} ({whose}) {way} by {numbers.least(cost)}"
                )
    if not told:
        return ""
    return (
        f"deployments that live side by side have their {'; '.join(told)} at least: more than the "
        "tolerance, so nothing is claimed there. Measure without `turns`."
    )


def neighbours(analysis: Analysis) -> str:
    """What it cost that deployments lived side by side; empty where they did not."""
    known = [found for found in analysis.neighbours if found.difference.n]
    if not known:
        return ""
    told = [
        f"{terms.phrase(found.metric)} {numbers.seen(found.difference)} "
        f"({numbers.interval(found.difference.low, found.difference.high)})"
        for found in known
    ]
    text = f"deployments that live side by side, over the same by themselves: {'; '.join(told)}"
    uneven = [
        f"{terms.plain(name)}'s {terms.phrase(found.metric)} "
        f"({numbers.interval(difference.low, difference.high)})"
        for found in known
        for name, difference in found.uneven.items()
    ]
    return f"{text}; beyond what it is for the baseline: {', '.join(uneven)}" if uneven else text
