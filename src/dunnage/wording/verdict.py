"""Why a verdict is what it is, in sentences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from dunnage.analysis.intervals import MINIMUM_BLOCKS
from dunnage.model.analysis import Comparison, Ground, Overload, Thinned
from dunnage.model.estimate import Estimate
from dunnage.units import percent
from dunnage.wording import left_out, numbers

ON_AN_EDGE = (
    "The estimate is on the edge between two verdicts. More blocks do not help there, but a "
    "question with another tolerance does."
)
TWINS_TOO_FAR = (
    "Identical deployments differ by more than the tolerance, so no difference can be "
    "shown to be inside it. First find why they differ."
)
OWN = "These are the twins: they are judged by the tolerance alone, so that they can fail."
NO_TWIN = "The study has no twin, so it is not known how far identical deployments differ."
TWIN_LEFT_OUT = (
    "The study's twin was not part of this run, so it is not known how far identical deployments "
    "differ."
)
DAMAGED = (
    "A file that verdicts come from, such as the study, is not as it was written: `dunnage verify` "
    "names it."
)
NO_BOUND = "It is not known in both results how far identical deployments differ there."
_PLACES: Mapping[Ground, str] = {
    Ground.INSIDE: "is inside",
    Ground.BEYOND: "is beyond the tolerance of",
}
_STUCK: Mapping[Ground, str] = {Ground.ON_AN_EDGE: ON_AN_EDGE, Ground.TWINS_TOO_FAR: TWINS_TOO_FAR}


def reason(comparison: Comparison) -> str:
    """One sentence or two: why this verdict."""
    text = _grounds(comparison)
    return f"{text} {OWN}" if comparison.twins else text


def _grounds(comparison: Comparison) -> str:
    if comparison.withheld:
        return _withheld(comparison)
    moved = bool(comparison.apart and not comparison.twins)
    across = "is neither far enough inside nor beyond" if moved else "crosses"
    place = _PLACES.get(comparison.ground, across)
    texts = [
        f"{_interval(comparison.difference)} {place} {numbers.tolerance(comparison.tolerance)}."
    ]
    if moved:
        least = numbers.least(comparison.apart or 0.0)
        texts.append(f"Identical deployments differ by at least {least}, which counts here.")
    if comparison.ground in _STUCK:
        texts.append(_STUCK[comparison.ground])
    return " ".join(texts)


def _withheld(comparison: Comparison) -> str:
    """Why nothing is claimed, whatever the interval says."""
    over = _overloaded(comparison.overloads)
    match comparison.ground:
        case Ground.TOO_FEW_BLOCKS:
            return _too_few(len(comparison.by_block), "complete blocks")
        case Ground.TOO_FEW_TWINS:
            return _too_few(comparison.twin_blocks or 0, "complete blocks of the twin")
        case Ground.TWINS_OVERLOADED:
            return (
                f"Twins say nothing about latencies here: {over} could not keep up with the rate."
            )
        case Ground.OVERLOADED:
            return (
                f"Over capacity: {over} could not keep up with the offered rate, so latencies "
                "show the length of the run and are not compared."
            )
        case Ground.NEIGHBOURS:
            return (
                f"Other deployments beside it change a deployment's {comparison.metric} by "
                f"at least {numbers.least(comparison.neighbours or 0.0)}, more than "
                f"{numbers.tolerance(comparison.tolerance)}: measure without `turns`."
            )
        case Ground.NO_BOUND:
            return NO_BOUND
        case Ground.THINNED if comparison.thinned is not None:
            return _thinned(comparison.thinned)
        case Ground.TWIN_LEFT_OUT:
            return TWIN_LEFT_OUT
        case Ground.DAMAGED:
            return DAMAGED
    return NO_TWIN


def _interval(difference: Estimate) -> str:
    low, high = difference.low or 0.0, difference.high or 0.0
    return f"The interval {numbers.difference(low)} to {numbers.difference(high)}"


def _thinned(found: Thinned) -> str:
    sides = found.deployment, found.baseline
    blocks = left_out.blocks_of_all if found.platforms else left_out.blocks
    return (
        f"Runs were left out in {' and in '.join(map(blocks, sides))}. Chance explains "
        f"such a difference in {_rarely(found.chance)} of studies, so that the runs that are "
        "left may be chosen by what they measured."
    )


def _rarely(chance: float) -> str:
    return f"only {percent(chance)}" if chance >= 0.001 else "less than 0.1 %"


def _too_few(present: int, noun: str) -> str:
    missing = MINIMUM_BLOCKS - present
    are = f"{missing} {'is' if missing == 1 else 'are'} missing"
    return f"An interval needs {MINIMUM_BLOCKS} {noun}: there are {present}, {are}."


def _overloaded(overloads: Sequence[Overload]) -> str:
    """`docker` in 2 of 8 runs (91.0 % answered at worst)."""
    return " and ".join(
        f"`{each.deployment}` in {each.over} of {each.runs} runs"
        + ("" if each.least is None else f" ({percent(each.least)} answered at worst)")
        for each in overloads
    )
