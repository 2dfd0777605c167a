"""What a shipped study found, in lines for `docs/proofs.md`: its ladders, and others' findings."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from dunnage.analysis.groups import grouped
from dunnage.findings.rungs.sentences import PER_OPERATION
from dunnage.model.analysis import Analysis, Comparison
from dunnage.model.estimate import Estimate
from dunnage.model.rungs import Rungs

Cell = tuple[str, str, str]
"""Question, deployment, workload."""
_PERCENT = re.compile(r"[+-]?\d+%")
_SIGNS: Mapping[str, float] = {"more": math.inf, "less": -math.inf}
"""Words for a difference of which only the sign was published."""


@dataclass(frozen=True)
class Publication:
    """What a published study found, and what keeps it from being ours once more."""

    name: str
    told: Mapping[Cell, str]
    """What it tells where a shipped study asks the same: `+20%`, `less`, or in words that there is
    no difference."""
    alike: float
    """Per cent by which its own identical baselines differ: no smaller difference has a sign."""
    differs: str
    """In what it differs from what is measured here, and what is not compared for that."""


NO_NUMBER = "not comparable with a published study: none is known that has a figure for this"
"""Why neither sign nor rank nor size of a study is compared."""


def ladders(seen: Analysis) -> Iterator[str]:
    """Each ladder of an analysis, in microseconds per operation with 95 % intervals."""
    for found in seen.rungs:
        steps = ", ".join(f"{step.deployment} {_added(step.difference)}" for step in found.steps)
        yield (
            f"ladder of {found.metric} {found.workload}, {PER_OPERATION.label}: "
            f"{found.whole.baseline} {_value(found.first)}, then {steps}; "
            f"whole {_added(found.whole.difference)}, {_rest(found)}"
        )


def agreement(seen: Analysis, published: Publication | None) -> Iterator[str]:
    """Whether signs and ranks are those of a published study, and why the rest is not compared.

    A sign is compared where the published figure is beyond what the study's own baselines differ
    by, and ours is told from zero. Ranks are those of the deployments of a question and workload
    that have a published figure each. Two of them have a rank where they are further apart than
    that.
    """
    if published is None:
        yield NO_NUMBER
        return
    cells = [
        (each, figure)
        for each, told in _beside(seen, published.told)
        if (figure := _figure(told)) is not None
    ]
    beyond = [(each, figure) for each, figure in cells if abs(figure) > published.alike]
    signs = [
        (found.difference.value > 0) == (figure > 0)
        for found, figure in beyond
        if found.difference.without_zero
    ]
    yield f"signs: {sum(signs)} of the {len(signs)} that are told from zero are as published"
    if near := len(cells) - len(beyond):
        yield (
            f"no sign of {near} published within {published.alike:g} %, by which identical "
            f"baselines of {published.name} differ"
        )
    ranks = [
        told
        for (metric, workload, baseline), alike in grouped(cells, _scale).items()
        for told in _ranks(f"{metric} {workload} against {baseline}", alike, published.alike)
    ]
    yield from ranks or ["no ranks: no two deployments have published figures that are apart"]
    yield f"{published.name}: {published.differs}"


def _figure(told: str) -> float | None:
    """Per cent; infinite where only the sign was published. None where there is no figure."""
    if _PERCENT.fullmatch(told):
        return float(told.removesuffix("%"))
    return _SIGNS.get(told)


def _beside(seen: Analysis, published: Mapping[Cell, str]) -> Iterator[tuple[Comparison, str]]:
    for one in seen.answers:
        for each in one.comparisons:
            told = published.get((one.question, each.deployment, each.workload))
            if told and each.primary:
                yield each, told


def _scale(pair: tuple[Comparison, float]) -> tuple[str, str, str]:
    """What deployments must share so that they can be ranked."""
    found, _ = pair
    return found.metric, found.workload, found.baseline


def _ranks(of: str, cells: Sequence[tuple[Comparison, float]], alike: float) -> Iterator[str]:
    """The order of ours, and how many pairs that are apart in theirs have the same order here."""
    theirs = sorted(cells, key=lambda pair: pair[1])
    pairs = [
        (low.difference.value < high.difference.value)
        for (low, less), (high, more) in combinations(theirs, 2)
        if more - less > alike
    ]
    if not pairs:
        return
    ours = sorted(cells, key=lambda pair: pair[0].difference.value)
    here = " < ".join(found.deployment for found, _ in ours)
    there = " < ".join(found.deployment for found, _ in theirs)
    beside = "" if all(pairs) else f", published: {there}"
    same = f"{sum(pairs)} of {len(pairs)} pairs that are apart there are in this order"
    yield f"ranks of {of}: {here}{beside}; {same}"


def _value(estimate: Estimate) -> str:
    return f"{PER_OPERATION.bare(estimate.value)}{_interval(estimate, PER_OPERATION.bare)}"


def _added(estimate: Estimate) -> str:
    if not estimate.n:
        return "not known"
    return f"{PER_OPERATION.signed(estimate.value)}{_interval(estimate, PER_OPERATION.signed)}"


def _interval(estimate: Estimate, shown: Callable[[float], str]) -> str:
    if estimate.low is None or estimate.high is None:
        return f" (n = {estimate.n}, no interval)"
    return f" ({shown(estimate.low)} … {shown(estimate.high)}, n = {estimate.n})"


def _rest(found: Rungs) -> str:
    if found.unexplained is None:
        return "which is not known"
    if not found.unexplained:
        return "to which the steps add up by arithmetic, as all have the same blocks"
    return f"of which {PER_OPERATION.signed(found.unexplained)} come of blocks that not all have"
