"""What a shipped study found, in lines for `docs/proofs.md`: its ladders, and others' findings."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence

from dunnage.analysis.groups import grouped
from dunnage.findings.rungs.sentences import PER_OPERATION
from dunnage.model.analysis import Analysis, Comparison
from dunnage.model.estimate import Estimate
from dunnage.model.rungs import Rungs

Cell = tuple[str, str, str]
"""Question, deployment, workload."""
_PERCENT = re.compile(r"[+-]?\d+%")
TRUYEN_2018 = (
    "the study of 2018 found its figures with MongoDB in virtual machines, as means of 95th "
    "percentiles over 15 levels of load, without intervals; this is one level of another database "
    "on hosts that share a machine, so sizes are not comparable"
)
"""Why sizes of two studies may not be compared."""
NO_NUMBER = (
    "not comparable with the study of 2018: it has no number for what this study asks; its "
    "database is MongoDB, on Docker, Swarm and Kubernetes in virtual machines"
)
"""Why neither sign nor rank nor size of a study is compared."""


def ladders(seen: Analysis) -> Iterator[str]:
    """Each ladder of an analysis, in microseconds per operation with 95 % intervals."""
    for found in seen.rungs:
        steps = ", ".join(f"{step.deployment} {_added(step.difference)}" for step in found.steps)
        yield (
            f"ladder of {found.metric} {found.workload}, {PER_OPERATION.label}: "
            f"{found.whole.baseline} {_value(found.first)}, then {steps}; "
            f"whole {_added(found.whole.difference)}, unexplained {_unexplained(found)}"
        )


def agreement(seen: Analysis, published: Mapping[Cell, str]) -> Iterator[str]:
    """Whether signs and ranks are those of a published study, and why the rest is not compared.

    A sign is compared where the published figure is a number, and ours is told from zero. Ranks are
    those of the deployments of a question and workload that have a published number each.
    """
    numbered = [
        (each, int(told.removesuffix("%")))
        for each, told in _beside(seen, published)
        if _PERCENT.fullmatch(told)
    ]
    if not numbered:
        yield NO_NUMBER
        return
    signs = [
        (found.difference.value > 0) == (told > 0)
        for found, told in numbered
        if found.difference.without_zero and told
    ]
    yield f"signs: {sum(signs)} of the {len(signs)} that are told from zero are as published"
    for (metric, workload, baseline), cells in grouped(numbered, _scale).items():
        yield from _ranks(f"{metric} {workload} against {baseline}", cells)
    yield TRUYEN_2018


def _beside(seen: Analysis, published: Mapping[Cell, str]) -> Iterator[tuple[Comparison, str]]:
    for one in seen.answers:
        for each in one.comparisons:
            told = published.get((one.question, each.deployment, each.workload))
            if told and each.primary:
                yield each, told


def _scale(pair: tuple[Comparison, int]) -> tuple[str, str, str]:
    """What deployments must share so that they can be ranked."""
    found, _ = pair
    return found.metric, found.workload, found.baseline


def _ranks(of: str, cells: Sequence[tuple[Comparison, int]]) -> Iterator[str]:
    if len(cells) < 2:
        return
    ours = sorted(cells, key=lambda pair: pair[0].difference.value)
    theirs = sorted(cells, key=lambda pair: pair[1])
    here = " < ".join(found.deployment for found, _ in ours)
    there = " < ".join(found.deployment for found, _ in theirs)
    yield f"ranks of {of}: {here}, {'as published' if here == there else f'published: {there}'}"


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


def _unexplained(found: Rungs) -> str:
    return "not known" if found.unexplained is None else PER_OPERATION.signed(found.unexplained)
