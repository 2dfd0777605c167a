"""Curves: throughput over threads, latency along the tail, a run in time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, NullFormatter

from dunnage.drawing.scale import WIDE
from dunnage.findings.tails.figures import deepest, inside
from dunnage.findings.timeline.figures import TITLES, names_of, series_of
from dunnage.model.analysis import LatencyCurve
from dunnage.model.explanation import TimeLine
from dunnage.model.scalability import Scalability
from dunnage.report.paper.comparisons import quantile_axis, tail_place
from dunnage.report.paper.style import COLOURS, line, series
from dunnage.wording import terms
from dunnage.wording.quantity import Unit, unit


def draw_growth(figure: Figure, curves: Sequence[Scalability], order: Mapping[str, int]) -> None:
    """Throughput over threads: points with intervals, the law with its band, the fit dotted."""
    axes = figure.subplots()
    for place, curve in enumerate(curves):
        number = order.get(curve.deployment, place)
        look = series(number)
        _points(axes, curve, look["color"], look["marker"])
        if curve.law is not None:
            x = [point.threads for point in curve.law.points]
            axes.plot(x, [point.value for point in curve.law.points], **line(number))
            banded = [p for p in curve.law.points if p.low is not None and p.high is not None]
            axes.fill_between(
                [point.threads for point in banded],
                [point.low or 0.0 for point in banded],
                [point.high or 0.0 for point in banded],
                color=look["color"],
                alpha=0.15,
                linewidth=0,
            )
        for fit in curve.quadratic:
            if fit.metric == "throughput":
                axes.plot(
                    [point.threads for point in fit.points],
                    [point.value for point in fit.points],
                    color=look["color"],
                    linestyle=(0, (1, 2)),
                    linewidth=0.8,
                )
        axes.plot([], [], label=terms.plain(curve.deployment), **look)
    levels = sorted({point.threads for curve in curves for point in curve.levels})
    if levels[-1] >= WIDE * levels[0]:
        axes.set_xscale("log", base=2)
    axes.set_xticks(levels, [str(level) for level in levels])
    axes.minorticks_off()
    axes.set_ylim(bottom=0)
    axes.yaxis.set_major_formatter(lambda value, _position: f"{value:,g}")
    axes.set_xlabel("threads")
    axes.set_ylabel("throughput, op/s")
    axes.set_title(f"Workload {terms.plain(curves[0].workload)}", loc="left")
    axes.grid()
    axes.legend(loc="best")


def draw_tail(
    figure: Figure, title: str, curves: Sequence[LatencyCurve], order: Mapping[str, int]
) -> None:
    """Merged latency distributions, both axes logarithmic."""
    axes = figure.subplots()
    last = deepest([inside(curve)[-1][0] for curve in curves])
    for place, curve in enumerate(curves):
        points = [(q, seconds) for q, seconds in inside(curve) if q <= last * 1.0000001]
        axes.plot(
            [tail_place(q) for q, _ in points],
            [seconds * 1e3 for _, seconds in points],
            label=terms.plain(curve.deployment),
            **line(order.get(curve.deployment, place)),
        )
    axes.set_yscale("log")
    axes.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    axes.yaxis.set_major_formatter(lambda value, _position: f"{value:g}")
    axes.yaxis.set_minor_formatter(NullFormatter())
    quantile_axis(axes, last)
    axes.set_ylabel(f"{curves[0].kind} time, ms")
    axes.set_title(title, loc="left")
    axes.grid(which="major")
    axes.legend(loc="best")


def draw_times(
    figure: Figure, title: str, lines: Sequence[TimeLine], order: Mapping[str, int]
) -> None:
    """Speed and resources above one another on one axis of time; the warm-up shaded."""
    names = names_of(lines)
    panels = figure.subplots(len(names), 1, sharex=True, squeeze=False)[:, 0]
    for axes, name in zip(panels, names, strict=True):
        _panel(axes, name, lines, order)
    begin = min(found.starts[0] for found in lines)
    panels[0].set_title(title, loc="left", pad=14)
    panels[-1].set_xlabel("seconds since the measured window began")
    for axes in panels:
        if begin < 0:
            axes.axvspan(begin, 0.0, color="#f0ede5", linewidth=0, zorder=0)
    handles, labels = panels[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=3)


def _panel(axes: Axes, name: str, lines: Sequence[TimeLine], order: Mapping[str, int]) -> None:
    found = series_of(lines, name)
    largest = max(value for _, one in found for value in one.high if value is not None)
    shown: Unit = unit(found[0][1].unit, largest)
    for place, (run, one) in enumerate(found):
        number = order.get(run.deployment, place)
        x = [start + run.step / 2 for start in run.starts]
        middle, low, high = (
            [float("nan") if value is None else value / shown.size for value in values]
            for values in (one.median, one.low, one.high)
        )
        axes.plot(x, middle, label=terms.plain(run.deployment), **line(number))
        colour = COLOURS[number % len(COLOURS)]
        axes.fill_between(x, low, high, color=colour, alpha=0.12, linewidth=0)
    axes.set_ylim(bottom=0)
    axes.yaxis.set_major_formatter(lambda value, _position: f"{value:,g}")
    what = f"{TITLES.get(name, terms.plain(name))}, {shown.label}"
    axes.annotate(
        what, (0, 1), (0, 2), xycoords="axes fraction", textcoords="offset points", fontsize=6.5
    )
    axes.grid()


def _points(axes: Axes, curve: Scalability, colour: str, marker: str) -> None:
    for point in curve.levels:
        if point.throughput is None:
            continue
        low, high = point.throughput.low, point.throughput.high
        if low is not None and high is not None:
            axes.plot([point.threads] * 2, [low, high], color=colour, linewidth=0.8)
        axes.plot([point.threads], [point.throughput.value], marker=marker, color=colour)
