"""Ladders: what each deployment adds, as bars that start where the last one ended."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate

from dunnage.analysis.groups import grouped
from dunnage.drawing.figure import Axis
from dunnage.drawing.ladder import Kind, Ladder, Ladders
from dunnage.drawing.ladder import Rung as Bar
from dunnage.drawing.scale import linear
from dunnage.findings.rungs.sentences import PER_OPERATION, REST, notes
from dunnage.model.analysis import Analysis
from dunnage.model.estimate import Estimate
from dunnage.model.rungs import Rung, Rungs
from dunnage.wording import numbers, parity, terms

_NOTHING = "-"
_SEEN = 1e-6
"""In µs/op: what is less is rounding, and no axis is stretched to show it."""


def ladders(analysis: Analysis) -> tuple[Ladders, ...]:
    """What each deployment adds to the one before it, one picture for each condition."""
    groups = grouped(analysis.rungs, lambda found: (found.workload, found.level))
    return tuple(_picture(*key, found) for key, found in groups.items())


def _picture(workload: str, level: str, every: Sequence[Rungs]) -> Ladders:
    return Ladders(
        name=f"rungs-{workload}-{level}",
        title=terms.condition(workload, level),
        unit=PER_OPERATION.label,
        ladders=tuple(map(_ladder, every)),
        notes=notes(every),
        columns=("What changes", *(terms.title(found.metric) for found in every)),
        rows=tuple(_rows(every)),
    )


def _ladder(found: Rungs) -> Ladder:
    reached = list(accumulate((step.difference.value for step in found.steps), initial=0.0))
    bars = [
        _bar(terms.plain(step.deployment), Kind.STEP, start, step.difference)
        for start, step in zip(reached, found.steps, strict=False)
    ]
    if found.unexplained:
        bars.append(
            Bar(
                name=REST,
                kind=Kind.REST,
                start=reached[-1] / PER_OPERATION.size,
                end=(reached[-1] + found.unexplained) / PER_OPERATION.size,
                value=PER_OPERATION.signed(found.unexplained),
            )
        )
    bars.append(_bar("the whole", Kind.WHOLE, 0.0, found.whole.difference))
    own = PER_OPERATION.bare(found.first.value)
    ends = [end or 0.0 for bar in bars for end in (bar.start, bar.end, bar.low, bar.high)]
    return Ladder(
        title=terms.title(found.metric),
        axis=Axis(
            f"added to the {own} {PER_OPERATION.label} of {terms.plain(found.whole.baseline)}",
            linear(ends if max(map(abs, ends)) > _SEEN else (0.0, 1.0)),
            lambda value: f"{value:g}",
            room=8.0,
        ),
        rungs=tuple(bars),
    )


def _bar(name: str, kind: Kind, start: float, step: Estimate) -> Bar:
    return Bar(
        name=name,
        kind=kind,
        start=start / PER_OPERATION.size,
        end=(start + step.value) / PER_OPERATION.size,
        value=_seen(step),
        low=None if step.low is None else (start + step.low) / PER_OPERATION.size,
        high=None if step.high is None else (start + step.high) / PER_OPERATION.size,
    )


def _rows(every: Sequence[Rungs]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """A row for each deployment's own first value, each step, the rest and the whole."""
    for name, alike in grouped(every, lambda found: found.whole.baseline).items():
        cells = {found.metric: _value(found.first) for found in alike}
        yield terms.plain(name), ("", *_cells(every, cells))
    steps = grouped(
        ((step, found.metric) for found in every for step in found.steps),
        lambda pair: (pair[0].baseline, pair[0].deployment),
    )
    for same in steps.values():
        cells = {metric: _with_blocks(step.difference) for step, metric in same}
        yield _between(same[0][0]), (_changes(same[0][0]), *_cells(every, cells))
    rest = {found.metric: _rest(found) for found in every}
    if any(found.unexplained for found in every):
        yield REST, ("", *_cells(every, rest))
    wholes = grouped(every, lambda found: (found.whole.baseline, found.whole.deployment))
    for alike in wholes.values():
        cells = {found.metric: _with_blocks(found.whole.difference) for found in alike}
        name = f"the whole: {_between(alike[0].whole)}"
        yield name, (_changes(alike[0].whole), *_cells(every, cells))


def _cells(every: Sequence[Rungs], known: Mapping[str, str]) -> tuple[str, ...]:
    return tuple(known.get(found.metric, _NOTHING) for found in every)


def _between(step: Rung) -> str:
    return f"{terms.plain(step.baseline)} → {terms.plain(step.deployment)}"


def _changes(step: Rung) -> str:
    return "; ".join(map(parity.factor, step.factors)) or "nothing"


def _rest(found: Rungs) -> str:
    return PER_OPERATION.signed(found.unexplained) if found.unexplained else _NOTHING


def _value(first: Estimate) -> str:
    text = PER_OPERATION.bare(first.value)
    if first.low is None or first.high is None:
        return text
    return f"{text} ({PER_OPERATION.bare(first.low)} … {PER_OPERATION.bare(first.high)})"


def _with_blocks(step: Estimate) -> str:
    blocks = f", {numbers.count(step.n, 'block')}" if step.n else ""
    return f"{_seen(step)}{blocks}"


def _seen(step: Estimate) -> str:
    """A difference with its interval: `+12.3 (+11.0 … +13.6)`."""
    if not step.n:
        return _NOTHING
    text = PER_OPERATION.signed(step.value)
    if step.low is None or step.high is None:
        return text
    return f"{text} ({PER_OPERATION.signed(step.low)} … {PER_OPERATION.signed(step.high)})"
