"""Throughput and latency over the threads of a closed loop, with what was fitted to them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from dunnage.drawing.plot import Curve, Mark, Plot, apart, area, height, path, ticks
from dunnage.drawing.scale import WIDE, Scale, Tick, linear, logarithmic
from dunnage.model.analysis import Analysis
from dunnage.model.estimate import Estimate
from dunnage.model.metrics import METRICS
from dunnage.model.scalability import FittedPoint, LevelPoint, Scalability
from dunnage.wording import numbers, terms

_DODGE = 0.35
"""Percent by which the points of neighbouring deployments stand apart, so that all are seen."""


@dataclass(frozen=True)
class Fits:
    """One deployment with its fits, on the axes of all deployments of the workload."""

    deployment: str
    plot: Plot
    curve: Scalability


@dataclass(frozen=True)
class Growth:
    """All deployments under one workload."""

    workload: str
    title: str
    plots: tuple[Plot, ...]
    fits: tuple[Fits, ...]
    deployments: tuple[str, ...]
    rows: tuple[tuple[str, str, tuple[str, ...]], ...]
    """(level, metric, value of each deployment with its interval)."""
    refused: tuple[str, ...]


def growths(analysis: Analysis) -> tuple[Growth, ...]:
    """One group of figures for each workload that was driven at several numbers of threads."""
    by_workload: dict[str, list[Scalability]] = {}
    for found in analysis.scalability:
        by_workload.setdefault(found.workload, []).append(found)
    return tuple(_growth(workload, found) for workload, found in by_workload.items())


def throughput(point: LevelPoint) -> Estimate | None:
    """The throughput of a level."""
    return point.throughput


def latency(point: LevelPoint) -> Estimate | None:
    """The 95th percentile of service time of a level."""
    return point.latency


QUANTITIES: tuple[tuple[str, Callable[[LevelPoint], Estimate | None]], ...] = (
    ("throughput", throughput),
    ("service.p95", latency),
)


def _growth(workload: str, found: Sequence[Scalability]) -> Growth:
    x = _threads(found)
    title = f"Workload {terms.plain(workload)}"
    plots = [_plot(title, metric, of, found, x) for metric, of in QUANTITIES]
    fitted = [point.value for curve in found for fit in _fitted(curve) for point in fit]
    top = _scale(found, throughput, fitted)
    levels = {point.level: None for curve in found for point in curve.levels}
    return Growth(
        workload=terms.plain(workload),
        title=title,
        plots=tuple(plot for plot in plots if plot.marks),
        fits=tuple(
            Fits(terms.plain(curve.deployment), _fit(title, curve, x, top), curve)
            for curve in found
            if curve.law or curve.quadratic
        ),
        deployments=tuple(terms.plain(curve.deployment) for curve in found),
        rows=tuple(
            (terms.level(level), metric, tuple(_cell(curve, level, metric, of) for curve in found))
            for metric, of in QUANTITIES
            for level in levels
        ),
        refused=terms.together(
            (terms.plain(curve.deployment), sentence)
            for curve in found
            for sentence in curve.refused
        ),
    )


def _plot(
    title: str,
    metric: str,
    of: Callable[[LevelPoint], Estimate | None],
    found: Sequence[Scalability],
    x: Scale,
) -> Plot:
    y = _scale(found, of)
    marks: list[Mark] = []
    curves: list[Curve] = []
    for number, curve in enumerate(found):
        shift = (number - (len(found) - 1) / 2) * _DODGE
        own = [
            _mark(curve.deployment, metric, point, estimate, x, y, shift)
            for point in curve.levels
            if (estimate := of(point)) is not None
        ]
        marks += own
        curves.append(Curve(terms.plain(curve.deployment), path((mark.x, mark.y) for mark in own)))
    unit = METRICS[metric].unit
    return Plot(
        title=title,
        unit=f"{terms.phrase(metric)}, {unit}",
        label=f"{terms.title(metric)} over threads, {title}; the table below has the numbers",
        x=_marks(x),
        x_title="threads",
        y=ticks(y, lambda value: f"{value * METRICS[metric].scale:,g}"),
        curves=tuple(curves),
        marks=tuple(marks),
    )


def _fit(title: str, curve: Scalability, x: Scale, y: Scale) -> Plot:
    name = terms.plain(curve.deployment)
    curves, bands = [], []
    quadratic = next((fit for fit in curve.quadratic if fit.metric == "throughput"), None)
    if quadratic is not None:
        curves.append(Curve(name, _line(quadratic.points, x, y), "fit"))
    if curve.law is not None:
        curves.append(Curve(name, _line(curve.law.points, x, y)))
        bands.append(Curve(name, _band(curve.law.points, x, y)))
    marks = [
        _mark(curve.deployment, "throughput", point, point.throughput, x, y, 0.0)
        for point in curve.levels
        if point.throughput is not None
    ]
    peak = None
    if curve.law is not None and curve.law.peak_threads is not None and not curve.law.extrapolated:
        peak = x.at(curve.law.peak_threads.value)
    return Plot(
        title=name,
        unit=METRICS["throughput"].unit,
        label=f"Throughput of {name} over threads with its fits, {title}",
        x=_marks(x, least=14.0),
        x_title="threads",
        y=ticks(y, lambda value: f"{value:,g}"),
        curves=tuple(curves),
        bands=tuple(bands),
        marks=tuple(marks),
        upright=peak,
    )


def _mark(
    deployment: str,
    metric: str,
    point: LevelPoint,
    estimate: Estimate,
    x: Scale,
    y: Scale,
    shift: float,
) -> Mark:
    low = None if estimate.low is None else height(y, estimate.low)
    high = None if estimate.high is None else height(y, estimate.high)
    return Mark(
        series=terms.plain(deployment),
        x=round(x.at(point.threads) + shift, 2),
        y=height(y, estimate.value),
        low=low,
        high=high,
        text=f"{terms.plain(deployment)}, {terms.level(point.level)}: "
        f"{numbers.value(metric, estimate.value)}, {numbers.span(metric, estimate)}",
    )


def _threads(found: Sequence[Scalability]) -> Scale:
    """The horizontal axis, with a mark at every level that was measured."""
    levels = sorted({point.threads for curve in found for point in curve.levels})
    low, high = float(levels[0]), float(levels[-1])
    log = low > 0 and high / low >= WIDE
    margin = (high / low) ** 0.04 if log else 0.04 * (high - low)
    bare = (
        Scale(low / margin, high * margin, (), log=True)
        if log
        else Scale(low - margin, high + margin, ())
    )
    return Scale(
        bare.low, bare.high, tuple(Tick(float(n), bare.at(n)) for n in levels), log=bare.log
    )


def _fitted(curve: Scalability) -> Iterator[Sequence[FittedPoint]]:
    """The curves that were fitted to the throughput of one deployment."""
    yield from (fit.points for fit in curve.quadratic if fit.metric == "throughput")
    if curve.law is not None:
        yield curve.law.points


def _scale(
    found: Sequence[Scalability],
    of: Callable[[LevelPoint], Estimate | None],
    besides: Sequence[float] = (),
) -> Scale:
    estimates = [estimate for curve in found for point in curve.levels if (estimate := of(point))]
    ends = [
        end
        for estimate in estimates
        for end in (estimate.value, estimate.low, estimate.high)
        if end is not None
    ]
    if of is latency and ends and max(ends) > WIDE * min(ends) > 0:
        return logarithmic(ends)
    return linear([0.0, *ends, *besides])


def _marks(x: Scale, least: float = 7.0) -> tuple[tuple[str, float], ...]:
    return apart([(f"{tick.value:g}", tick.at) for tick in x.ticks], least)


def _line(points: Sequence[FittedPoint], x: Scale, y: Scale) -> str:
    return path((x.at(point.threads), height(y, point.value)) for point in points)


def _band(points: Sequence[FittedPoint], x: Scale, y: Scale) -> str:
    return area(
        [None if p.high is None else (x.at(p.threads), height(y, p.high)) for p in points],
        [None if p.low is None else (x.at(p.threads), height(y, p.low)) for p in points],
    )


def _cell(
    curve: Scalability, level: str, metric: str, of: Callable[[LevelPoint], Estimate | None]
) -> str:
    estimate = next((of(point) for point in curve.levels if point.level == level), None)
    if estimate is None:
        return "-"
    value = numbers.bare(metric, estimate.value)
    if estimate.low is None or estimate.high is None:
        return value
    return f"{value} ({numbers.bare(metric, estimate.low)} … {numbers.bare(metric, estimate.high)})"
