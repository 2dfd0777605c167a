"""Stacked bars: where the CPU time of an operation went."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from dunnage.analysis.groups import grouped
from dunnage.drawing.figure import Axis
from dunnage.drawing.scale import linear
from dunnage.drawing.stack import Bar, Stack, side_by_side
from dunnage.findings.cpu.shares import OUTSIDE, PARTS
from dunnage.model.accounting import Accounting
from dunnage.model.analysis import Analysis, Share
from dunnage.model.metrics import METRICS
from dunnage.wording import numbers, terms

_METRIC = "cpu.database"
"""The metric whose unit and digits the CPU time is written in."""
_UNKNOWN = "not known"
"""In the place of a part that some run does not tell: it is not 0, and the others are not all."""


_WITHIN = {
    Accounting.CONTAINED: "inside the others",
    Accounting.BESIDE: "in the CPU time of no host",
    Accounting.UNKNOWN: "perhaps inside the others",
}
"""How a part that is not stacked stands to those that are."""


def part_title(part: str) -> str:
    """A part of the CPU time as readers see it."""
    return "kernel, outside any host" if part == OUTSIDE else terms.plain(part)


def cpu_bars(analysis: Analysis) -> tuple[Stack, ...]:
    """CPU per operation of each deployment, one figure for each condition."""
    groups = grouped(analysis.shares, lambda share: (share.workload, share.level))
    return tuple(_cpu(*key, shares) for key, shares in groups.items())


def _titles(shares: Iterable[Share]) -> tuple[str, ...]:
    """Parts that are not stacked, each with how it stands to those that are."""
    of_parts = {share.part: share.accounting for share in shares if share.accounting is not None}
    return tuple(f"{part_title(part)} ({_WITHIN[of_parts[part]]})" for part in sorted(of_parts))


def _parts(shares: Sequence[Share], *, below: bool = False) -> tuple[str, ...]:
    """The parts that any of these shares has, in the order of the analysis."""
    there = {share.part for share in shares if (share.accounting is not None) is below}
    return tuple(part for part in (*PARTS, *sorted(there - set(PARTS))) if part in there)


def _cpu(workload: str, level: str, every: Sequence[Share]) -> Stack:
    bars = {
        name: {share.part: share for share in own}
        for name, own in grouped(every, lambda share: share.deployment).items()
    }
    stacked, below = _parts(every), _parts(every, below=True)
    totals = {
        name: sum(shares[part].seconds_per_operation for part in stacked if part in shares)
        for name, shares in bars.items()
    }
    lengths = [
        sum(shares[part].seconds_per_operation for part in below if part in shares)
        for shares in bars.values()
    ]
    metric = METRICS[_METRIC]
    return Stack(
        name=f"cpu-{workload}-{level}",
        title=terms.condition(workload, level),
        what="CPU per operation",
        unit=metric.unit,
        axis=Axis(
            f"CPU per operation, {metric.unit}",
            linear([0.0, *(each * metric.scale for each in (*totals.values(), *lengths))]),
            lambda value: f"{value:g}",
        ),
        parts=tuple(map(part_title, stacked)),
        below=_titles(every),
        bars=tuple(
            Bar(
                terms.plain(name),
                side_by_side(_segment(part, shares.get(part)) for part in stacked),
                _at_least(shares, stacked) + numbers.value(_METRIC, totals[name]),
                side_by_side(_segment(part, shares[part]) for part in below if part in shares),
            )
            for name, shares in bars.items()
        ),
        cells=f"{metric.unit} with the interval over blocks; after the comma the "
        "difference from the baseline",
        columns=(
            *map(part_title, stacked),
            *_titles(every),
            "all",
        ),
        rows=tuple(
            (
                terms.plain(name),
                (
                    *(_with_interval(shares.get(part)) for part in (*stacked, *below)),
                    _at_least(shares, stacked) + numbers.bare(_METRIC, totals[name]),
                ),
            )
            for name, shares in bars.items()
        ),
    )


def _at_least(shares: Mapping[str, Share], parts: Sequence[str]) -> str:
    """What stands before a total that lacks a part, be it one that no deployment tells."""
    wanted = {part for part in PARTS if part != OUTSIDE or part in parts}
    return "" if shares.keys() >= wanted else "≥ "


def _segment(part: str, share: Share | None) -> tuple[str, float, str]:
    if share is None:
        return part_title(part), 0.0, _UNKNOWN
    seconds = share.seconds_per_operation
    return part_title(part), seconds * METRICS[_METRIC].scale, numbers.value(_METRIC, seconds)


def _with_interval(share: Share | None) -> str:
    if share is None:
        return _UNKNOWN
    text = numbers.bare(_METRIC, share.seconds_per_operation)
    mean = share.estimate
    if mean is not None and mean.low is not None and mean.high is not None:
        text += f" ({numbers.bare(_METRIC, mean.low)} … {numbers.bare(_METRIC, mean.high)})"
    if share.difference is not None and share.difference.n:
        text += f", {numbers.signed(_METRIC, share.difference.value)}"
    return text
