"""The page's figures as geometry. Templates draw them; places are percentages, so they stretch."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from dunnage.analysis.shares import OUTSIDE, PARTS
from dunnage.model.analysis import Analysis, Comparison, Estimate, LatencyCurve, RunSummary
from dunnage.model.metrics import METRICS
from dunnage.report import answer, numbers, words
from dunnage.report.scale import Scale, linear, logarithmic


@dataclass(frozen=True)
class ForestRow:
    """One difference with its interval, as places on the figure's axis."""

    comparison: Comparison
    at: float | None
    """None where nothing was compared: there is no point to draw."""
    low: float | None
    high: float | None


@dataclass(frozen=True)
class ForestGroup:
    """The rows of one condition, with the band and the bound that they are judged by."""

    title: str
    baseline: str
    value: str
    rows: tuple[ForestRow, ...]
    band: tuple[float, float]
    bound: tuple[float, float] | None
    bound_text: str


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
    scale = linear([0.0, *(end for comparison in found for end in _ends(comparison))])
    groups = []
    for condition, cells in conditions:
        if not cells:
            continue
        bound = condition.bound(metric)
        tolerance = cells[0].tolerance
        reached = condition.values.get(metric)
        groups.append(
            ForestGroup(
                title=words.condition(condition.workload, condition.level),
                baseline=words.plain(condition.baseline),
                value=_reached(metric, reached),
                rows=tuple(_row(scale, comparison) for comparison in cells),
                band=(scale.at(-tolerance), scale.at(tolerance)),
                bound=None if bound is None else (scale.at(-bound), scale.at(bound)),
                bound_text=numbers.bound(bound),
            )
        )
    return Forest(metric, scale, tuple(groups))


@dataclass(frozen=True)
class Line:
    """One deployment's line: its points in a box of 1000 by 1000, origin at the top left."""

    deployment: str
    points: str
    quantiles: tuple[str, ...]
    count: str


@dataclass(frozen=True)
class Tail:
    """Latency by quantile for one condition: x is the share of operations that were slower."""

    title: str
    kind: str
    x: tuple[tuple[str, float], ...]
    y: Scale
    lines: tuple[Line, ...]


QUANTILES: Mapping[str, float] = {
    "p50": 0.5,
    "p90": 0.9,
    "p99": 0.99,
    "p99.9": 0.999,
    "p99.99": 0.9999,
}
TABLED = {"p50": 0.5, "p95": 0.95, "p99": 0.99, "p99.9": 0.999}


def tails(analysis: Analysis) -> tuple[Tail, ...]:
    """Lay out the merged latency distributions, one figure for each condition and kind."""
    groups: dict[tuple[str, str, str], list[LatencyCurve]] = {}
    for curve in analysis.curves:
        groups.setdefault((curve.workload, curve.level, curve.kind), []).append(curve)
    return tuple(
        _tail(words.condition(workload, level), kind, curves)
        for (workload, level, kind), curves in groups.items()
    )


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
        title = words.condition(workload, level)
        figures.append(Sequel(title, workload, level, scale, dots, edges))
    return tuple(figures)


@dataclass(frozen=True)
class Segment:
    """A part of a bar."""

    part: str
    start: float
    width: float
    text: str


@dataclass(frozen=True)
class Bars:
    """CPU per operation of each deployment under one condition, split by where it was spent."""

    title: str
    parts: tuple[str, ...]
    scale: Scale
    bars: tuple[tuple[str, tuple[Segment, ...], str], ...]
    """(deployment, segments, total)."""


PART_TITLES: Mapping[str, str] = {OUTSIDE: "kernel, outside any host"}
"""Parts that are called otherwise on the page."""


def cpu_bars(analysis: Analysis) -> tuple[Bars, ...]:
    """Lay out where CPU time went, one figure for each condition."""
    groups: dict[tuple[str, str], dict[str, dict[str, float]]] = {}
    for share in analysis.shares:
        bars = groups.setdefault((share.workload, share.level), {})
        bars.setdefault(share.deployment, {})[share.part] = share.seconds_per_operation
    return tuple(_bars(words.condition(*key), bars) for key, bars in groups.items())


def _bars(title: str, bars: Mapping[str, Mapping[str, float]]) -> Bars:
    micro = METRICS["cpu.database"].scale
    scale = linear([0.0, *(sum(parts.values()) * micro for parts in bars.values())])
    order = [*PARTS, *sorted({part for parts in bars.values() for part in parts} - set(PARTS))]
    present = tuple(part for part in order if any(part in parts for parts in bars.values()))
    laid = []
    for deployment, parts in bars.items():
        reached = 0.0
        segments = []
        for part in present:
            amount = parts.get(part, 0.0)
            start = scale.at(reached * micro)
            reached += amount
            width = round(scale.at(reached * micro) - start, 2)
            text = numbers.value("cpu.database", amount) if part in parts else "none"
            segments.append(Segment(PART_TITLES.get(part, part), start, width, text))
        total = numbers.value("cpu.database", reached)
        laid.append((words.plain(deployment), tuple(segments), total))
    titles = tuple(PART_TITLES.get(part, part) for part in present)
    return Bars(title, titles, scale, tuple(laid))


def _tail(title: str, kind: str, curves: Sequence[LatencyCurve]) -> Tail:
    deepest = _deepest(curves)
    scale = logarithmic(
        [
            seconds * 1e3
            for curve in curves
            for quantile, seconds in curve.points
            if 0.25 <= quantile <= deepest
        ]
    )
    lines = []
    for curve in curves:
        points = [
            f"{_depth(quantile, deepest):.0f},{1000 - 10 * scale.at(seconds * 1e3):.0f}"
            for quantile, seconds in sorted(curve.points)
            if quantile <= deepest * 1.0000001
        ]
        lines.append(
            Line(
                words.plain(curve.deployment),
                " ".join(points),
                tuple(_quantile(curve, share) for share in TABLED.values()),
                f"{curve.count:,}",
            )
        )
    marks = tuple(
        (name, _depth(share, deepest) / 10)
        for name, share in QUANTILES.items()
        if share <= deepest * 1.0000001
    )
    return Tail(title, kind, marks, scale, tuple(lines))


def _deepest(curves: Sequence[LatencyCurve]) -> float:
    """The last quantile to draw: the deepest that every curve still has operations beyond."""
    reached = [max((q for q, _ in curve.points if q < 1), default=0.0) for curve in curves]
    return min(max(min(reached), 0.9), 0.9999)


def _depth(quantile: float, deepest: float) -> float:
    """Place of a quantile by the logarithm of what lies beyond it, in thousandths."""
    return 1000 * math.log10(1 - min(quantile, deepest)) / math.log10(1 - deepest)


def _quantile(curve: LatencyCurve, share: float) -> str:
    seconds = next((s for quantile, s in sorted(curve.points) if quantile >= share - 1e-9), None)
    return "-" if seconds is None else numbers.bare("service.p95", seconds)


def _reached(metric: str, estimate: Estimate | None) -> str:
    return "" if estimate is None else numbers.value(metric, estimate.value)


def _row(scale: Scale, comparison: Comparison) -> ForestRow:
    difference = comparison.difference
    low = None if difference.low is None else scale.at(difference.low)
    high = None if difference.high is None else scale.at(difference.high)
    return ForestRow(comparison, scale.at(difference.value) if difference.n else None, low, high)


def _ends(comparison: Comparison) -> tuple[float, ...]:
    ends = (
        comparison.difference.value,
        comparison.difference.low,
        comparison.difference.high,
        comparison.tolerance,
        -comparison.tolerance,
        comparison.bound,
        None if comparison.bound is None else -comparison.bound,
    )
    return tuple(end for end in ends if end is not None)


def _share(part: float, whole: float) -> float:
    return round(part / whole * 100, 2)
