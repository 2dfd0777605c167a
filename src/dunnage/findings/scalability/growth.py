"""Throughput and latency over the threads of a closed loop, with what was fitted to them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from dunnage.analysis.groups import grouped
from dunnage.drawing.figure import Axis, Band, Figure, Line, Point
from dunnage.drawing.scale import WIDE, Scale, even, linear, logarithmic, wide
from dunnage.model.analysis import Analysis
from dunnage.model.estimate import Estimate
from dunnage.model.metrics import METRICS
from dunnage.model.scalability import LevelPoint, Scalability
from dunnage.wording import numbers, terms

_METRICS = ("throughput", "service.p95")
_DODGE = 0.35
_MARGIN = 100 * 0.04 / 1.08
"""Percent: a twenty-fifth of the span of levels beyond either end."""


@dataclass(frozen=True)
class Fits:
    """One deployment with its fits, on the axes of all deployments of the workload."""

    figure: Figure
    curve: Scalability


@dataclass(frozen=True)
class Growth:
    """All deployments under one workload."""

    title: str
    figures: tuple[Figure, ...]
    fits: tuple[Fits, ...]
    fitted: Figure
    """All fits in one figure."""
    deployments: tuple[str, ...]
    rows: tuple[tuple[str, str, tuple[str, ...]], ...]
    """(level, metric, value of each deployment with its interval)."""
    refused: tuple[str, ...]


def growths(analysis: Analysis) -> tuple[Growth, ...]:
    """One group of figures for each workload that was driven at several numbers of threads."""
    by_workload = grouped(analysis.scalability, lambda found: found.workload)
    return tuple(_growth(workload, found) for workload, found in by_workload.items())


def _growth(workload: str, found: Sequence[Scalability]) -> Growth:
    x = _threads(found)
    title = f"Workload {terms.plain(workload)}"
    figures = [_figure(title, metric, found, x) for metric in _METRICS]
    fitted = _fitted(workload, title, found, x)
    levels = {point.level: None for curve in found for point in curve.levels}
    return Growth(
        title=title,
        figures=tuple(figure for figure in figures if figure.points),
        fits=tuple(
            Fits(_alone(fitted, title, curve), curve)
            for curve in found
            if curve.law or curve.quadratic
        ),
        fitted=fitted,
        deployments=tuple(terms.plain(curve.deployment) for curve in found),
        rows=tuple(
            (terms.level(level), metric, tuple(_cell(curve, level, metric) for curve in found))
            for metric in _METRICS
            for level in levels
        ),
        refused=terms.together(
            (terms.plain(curve.deployment), sentence)
            for curve in found
            for sentence in curve.refused
        ),
    )


def _figure(title: str, metric: str, found: Sequence[Scalability], x: Axis) -> Figure:
    points = [_points(curve, metric) for curve in found]
    ends = [end for own in points for point in own for end in point.ends]
    far = metric != "throughput" and wide(ends)
    return Figure(
        title=title,
        label=f"{terms.title(metric)} over threads, {title}; the table below has the numbers",
        x=x,
        y=_axis(metric, logarithmic(ends) if far else linear([0.0, *ends])),
        lines=tuple(
            Line(terms.plain(curve.deployment), tuple((point.x, point.y) for point in own))
            for curve, own in zip(found, points, strict=True)
        ),
        points=tuple(point for own in points for point in own),
        dodge=_DODGE,
    )


def _fitted(workload: str, title: str, found: Sequence[Scalability], x: Axis) -> Figure:
    """Throughput with the law, its band and the quadratic fit of every deployment."""
    lines, bands = [], []
    for curve in found:
        name = terms.plain(curve.deployment)
        quadratic = next((fit for fit in curve.quadratic if fit.metric == "throughput"), None)
        if quadratic is not None:
            places = tuple((point.threads, point.value) for point in quadratic.points)
            lines.append(Line(name, places, fitted=True))
        if curve.law is not None:
            law = curve.law.points
            at = [point.threads for point in law]
            lines.append(Line.through(name, at, [point.value for point in law]))
            low, high = [point.low for point in law], [point.high for point in law]
            bands.append(Band.between(name, at, low, high))
    points = [point for curve in found for point in _points(curve, "throughput")]
    ends = [end for point in points for end in point.ends]
    along = [place[1] for line in lines for place in line.places if place is not None]
    return Figure(
        title=title,
        label=f"Throughput over threads with its fits, {title}",
        x=x,
        y=_axis("throughput", linear([0.0, *ends, *along])),
        lines=tuple(lines),
        bands=tuple(bands),
        points=tuple(points),
        name=f"scalability-{workload}",
    )


def _alone(fitted: Figure, title: str, curve: Scalability) -> Figure:
    """What a figure shows of one deployment, with the most threads that pay."""
    name, law = terms.plain(curve.deployment), curve.law
    peak = law.peak_threads if law is not None and not law.extrapolated else None
    return replace(
        fitted,
        title=name,
        label=f"Throughput of {name} over threads with its fits, {title}",
        x=replace(fitted.x, room=14.0),
        lines=tuple(line for line in fitted.lines if line.series == name),
        bands=tuple(band for band in fitted.bands if band.series == name),
        points=tuple(point for point in fitted.points if point.series == name),
        upright=None if peak is None else peak.value,
    )


def _estimate(point: LevelPoint, metric: str) -> Estimate | None:
    return point.throughput if metric == "throughput" else point.latency


def _points(curve: Scalability, metric: str) -> tuple[Point, ...]:
    name = terms.plain(curve.deployment)
    return tuple(
        Point(
            name,
            point.threads,
            found.value,
            f"{name}, {terms.level(point.level)}: {numbers.value(metric, found.value)}, "
            f"{numbers.span(metric, found)}",
            found.low,
            found.high,
        )
        for point in curve.levels
        if (found := _estimate(point, metric)) is not None
    )


def _threads(found: Sequence[Scalability]) -> Axis:
    """The horizontal axis, with a tick at every level that was measured."""
    levels = sorted({float(point.threads) for curve in found for point in curve.levels})
    spacing = math.log if levels[0] > 0 and levels[-1] / levels[0] >= WIDE else even
    scale = Scale(levels[0], levels[-1], tuple(levels), spacing, _MARGIN)
    return Axis("threads", scale, lambda threads: f"{threads:g}", room=7.0)


def _axis(metric: str, scale: Scale) -> Axis:
    known = METRICS[metric]
    title = f"{terms.phrase(metric)}, {known.unit}"
    return Axis(title, scale, lambda value: f"{value * known.scale:,g}")


def _cell(curve: Scalability, level: str, metric: str) -> str:
    levels = {point.level: point for point in curve.levels}
    estimate = _estimate(levels[level], metric) if level in levels else None
    if estimate is None:
        return "-"
    value = numbers.bare(metric, estimate.value)
    if estimate.low is None or estimate.high is None:
        return value
    return f"{value} ({numbers.bare(metric, estimate.low)} … {numbers.bare(metric, estimate.high)})"
