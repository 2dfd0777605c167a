"""Differences and runs as geometry: places are percentages, so that figures stretch."""

from __future__ import annotations

from dataclasses import dataclass

from dunnage.drawing.scale import Scale, linear
from dunnage.findings.differences import answer
from dunnage.model.analysis import Analysis, Comparison, Estimate, RunSummary
from dunnage.wording import numbers, terms


@dataclass(frozen=True)
class ForestRow:
    """One difference with its interval, as places on the figure's axis."""

    comparison: Comparison
    at: float | None
    """None where nothing was compared: there is no point to draw."""
    low: float | None
    high: float | None
    blocks: tuple[float, ...]
    """What each block by itself saw; where the axis ends, so does a block beyond it."""


@dataclass(frozen=True)
class ForestGroup:
    """The rows of one condition, with the tolerance and what twins differ by, both as bands."""

    title: str
    baseline: str
    value: str
    rows: tuple[ForestRow, ...]
    band: tuple[float, float]
    twins: tuple[float, float] | None
    """The interval of what identical deployments differ by."""
    twins_text: str


@dataclass(frozen=True)
class Forest:
    """One metric's differences from the baseline, over all conditions, on one axis."""

    metric: str
    scale: Scale
    groups: tuple[ForestGroup, ...]


def forest(analysis: Analysis, metric: str) -> Forest:
    """Lay out every comparison of one metric."""
    conditions = [
        (condition, [row.cells[metric] for row in condition.rows if metric in row.cells])
        for condition in answer.conditions(analysis)
    ]
    found = [comparison for _, cells in conditions for comparison in cells]
    twins = [c.twins[metric] for c, cells in conditions if cells and metric in c.twins]
    scale = linear([0.0, *(end for one in (*found, *twins) for end in _ends(one))])
    groups = []
    for condition, cells in conditions:
        if not cells:
            continue
        same = condition.twins.get(metric)
        tolerance = cells[0].tolerance
        reached = condition.values.get(metric)
        groups.append(
            ForestGroup(
                title=answer.heading(condition, [each for each, _ in conditions]),
                baseline=terms.plain(condition.baseline),
                value=_reached(metric, reached),
                rows=tuple(_row(scale, comparison) for comparison in cells),
                band=(scale.at(-tolerance), scale.at(tolerance)),
                twins=_span(scale, same),
                twins_text=_twins(same),
            )
        )
    return Forest(metric, scale, tuple(groups))


@dataclass(frozen=True)
class Dot:
    """One run of the order figure."""

    run: RunSummary
    x: float
    y: float
    text: str


@dataclass(frozen=True)
class Sequel:
    """Throughput of every run of one condition, in the order in which they ran."""

    title: str
    workload: str
    level: str
    y: Scale
    dots: tuple[Dot, ...]
    blocks: tuple[tuple[int, float, float], ...]
    """(block, left end, right end)."""


def sequels(analysis: Analysis, metric: str = "throughput") -> tuple[Sequel, ...]:
    """Lay out runs by time, so that drift shows."""
    groups: dict[tuple[str, str], list[RunSummary]] = {
        (summary.workload, summary.level): [] for summary in analysis.summaries
    }
    for run in analysis.runs:
        if metric in run.values:
            groups.setdefault((run.workload, run.level), []).append(run)
    span = max((run.position for run in analysis.runs), default=0) + 1
    blocks: dict[int, list[int]] = {}
    for run in analysis.runs:
        blocks.setdefault(run.block, []).append(run.position)
    edges = tuple(
        (block, _share(min(places), span), _share(max(places) + 1, span))
        for block, places in sorted(blocks.items())
    )
    figures = []
    for (workload, level), runs in groups.items():
        if not runs:
            continue
        scale = linear([run.values[metric] for run in runs], wanted=4)
        dots = tuple(
            Dot(
                run,
                _share(run.position + 0.5, span),
                round(100 - scale.at(run.values[metric]), 2),
                numbers.value(metric, run.values[metric]),
            )
            for run in runs
        )
        title = terms.condition(workload, level)
        figures.append(Sequel(title, workload, level, scale, dots, edges))
    return tuple(figures)


def _span(scale: Scale, comparison: Comparison | None) -> tuple[float, float] | None:
    if comparison is None:
        return None
    low, high = comparison.difference.low, comparison.difference.high
    return None if low is None or high is None else (scale.at(low), scale.at(high))


def _twins(comparison: Comparison | None) -> str:
    if comparison is None or comparison.difference.low is None:
        return "how far twins differ is not known"
    ends = numbers.interval(comparison.difference.low, comparison.difference.high)
    return f"twins differ by {ends}"


def _reached(metric: str, estimate: Estimate | None) -> str:
    return "" if estimate is None else numbers.value(metric, estimate.value)


def _row(scale: Scale, comparison: Comparison) -> ForestRow:
    difference = comparison.difference
    low = None if difference.low is None else scale.at(difference.low)
    high = None if difference.high is None else scale.at(difference.high)
    at = scale.at(difference.value) if difference.n else None
    return ForestRow(comparison, at, low, high, tuple(map(scale.at, comparison.by_block)))


def _ends(comparison: Comparison) -> tuple[float, ...]:
    ends = (
        comparison.difference.value,
        comparison.difference.low,
        comparison.difference.high,
        comparison.tolerance,
        -comparison.tolerance,
    )
    return tuple(end for end in ends if end is not None)


def _share(part: float, whole: float) -> float:
    return round(part / whole * 100, 2)
