"""Why a verdict is what it is, and what would settle a question, in sentences."""

from __future__ import annotations

from collections.abc import Sequence

from dunnage.analysis.estimate import MINIMUM_BLOCKS
from dunnage.model.analysis import Comparison, Ground, Overload, QuestionAnswer
from dunnage.model.estimate import Estimate
from dunnage.model.variance import QuestionAdvice
from dunnage.units import duration, percent

ON_AN_EDGE = (
    "The estimate lies on the edge between two verdicts, where blocks do not help: a question with "
    "another tolerance would."
)
TWINS_TOO_FAR = (
    "Identical deployments differ by more than the tolerance, so nothing can be shown to lie "
    "inside it: what makes them differ has to be found first."
)
OWN = "These are the twins: they are judged by the tolerance alone, so that they can fail."
NO_TWIN = "The study has no twin, so it is not known how far identical deployments differ."
NO_BOUND = "It is not known in both results how far identical deployments differ there."
REPEAT = (
    "Most of what pairs inside a block do not cancel lies between runs of one stay: a higher "
    "`repeat` would help more than blocks."
)


def reason(found: Comparison) -> str:
    """One sentence or two: why this verdict."""
    text = _grounds(found)
    return f"{text} {OWN}" if found.twins else text


def _grounds(found: Comparison) -> str:
    tolerance = percent(found.tolerance)
    said = {
        Ground.TOO_FEW_BLOCKS: lambda: _too_few(len(found.by_block), "complete blocks"),
        Ground.NO_TWIN: lambda: NO_TWIN,
        Ground.NO_BOUND: lambda: NO_BOUND,
        Ground.TOO_FEW_TWINS: lambda: _too_few(
            found.twin_blocks or 0, "complete blocks of the twin"
        ),
        Ground.TWINS_OVERLOADED: lambda: (
            f"Twins tell nothing of latencies here: {_overloaded(found.overloads)} could not keep "
            "up with the rate."
        ),
        Ground.OVERLOADED: lambda: (
            f"Over capacity: {_overloaded(found.overloads)} could not keep up with the offered "
            "rate, so latencies tell how long the run was and are not compared."
        ),
        Ground.NEIGHBOURS: lambda: (
            f"That others live beside it changes a deployment's {found.metric} by "
            f"{percent(found.neighbours or 0.0)} at least, more than ±{tolerance}: measure "
            "without `turns`."
        ),
        Ground.INSIDE: lambda: f"{_interval(found.difference)} lies inside ±{tolerance}.",
        Ground.BEYOND: lambda: (
            f"{_interval(found.difference)} lies beyond the tolerance of ±{tolerance}."
        ),
    }
    if found.withheld or found.ground in said:
        text = said[found.ground]()
    else:
        text = f"{_interval(found.difference)} reaches across ±{tolerance}."
    stuck = {Ground.ON_AN_EDGE: ON_AN_EDGE, Ground.TWINS_TOO_FAR: TWINS_TOO_FAR}
    veto = ""
    if found.apart and not found.withheld and not found.twins:
        veto = (
            f"Identical deployments differ by {percent(found.apart)} at least, which counts here."
        )
    return " ".join(filter(None, (text, veto, stuck.get(found.ground))))


def advice(found: QuestionAdvice, answer: QuestionAnswer) -> str:
    """What would settle a question, and how long that takes."""
    if not found.comparisons:
        return f"{found.question} compares nothing that was measured."
    if found.more_blocks == 0:
        return f"{found.question} is settled."
    said = []
    if found.more_blocks is not None:
        deed = "allow an interval for" if found.short else "settle"
        what = f"the rest of {found.question}" if found.unsettled else found.question
        time = "" if found.seconds is None else f", about {duration(found.seconds)}"
        more = found.more_blocks
        blocks = "1 more block" if more == 1 else f"{more} more blocks"
        said.append(f"{blocks} would {deed} {what} (`--blocks +{more}`{time}).")
    said += _stuck(found, answer)
    if found.repeat_helps:
        said.append(REPEAT)
    return " ".join(said)


def _stuck(found: QuestionAdvice, answer: QuestionAnswer) -> list[str]:
    """Why blocks do not settle the comparisons that they do not settle."""
    reasons: dict[str, list[str]] = {}
    for each in answer.comparisons:
        place = (each.deployment, each.workload, each.level)
        if each.primary and place in {(u.deployment, u.workload, u.level) for u in found.unsettled}:
            edge = each.blocks_needed is not None or each.ground is Ground.ON_AN_EDGE
            why = ON_AN_EDGE if edge else reason(each)
            reasons.setdefault(why, []).append(", ".join(place))
    every = len(found.unsettled) == found.comparisons and len(reasons) == 1
    return [
        f"{found.question if every else '; '.join(names)}: {why}" for why, names in reasons.items()
    ]


def _interval(found: Estimate) -> str:
    low, high = found.low or 0.0, found.high or 0.0
    return f"The interval {percent(low, sign=True)} to {percent(high, sign=True)}"


def _too_few(found: int, noun: str) -> str:
    missing = MINIMUM_BLOCKS - found
    are = "is" if missing == 1 else "are"
    return f"An interval needs {MINIMUM_BLOCKS} {noun}: there are {found}, {missing} {are} missing."


def _overloaded(found: Sequence[Overload]) -> str:
    """`docker` in 2 of 8 runs (91.0 % answered at worst)."""
    return " and ".join(
        f"`{each.deployment}` in {each.over} of {each.runs} runs"
        + ("" if each.least is None else f" ({percent(each.least)} answered at worst)")
        for each in found
    )
