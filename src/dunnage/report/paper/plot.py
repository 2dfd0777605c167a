"""Lines, bands and points by matplotlib, on axes in percent: each place is that of the page."""

from __future__ import annotations

from collections.abc import Mapping

from matplotlib.axes import Axes
from matplotlib.figure import Figure as Sheet

from dunnage.drawing.figure import Band, Figure, Line, Panels
from dunnage.report.paper.style import BOUND, FITTED, SHADED, line, series, set_ticks, sheet

Numbers = Mapping[str, int]
"""Series → its number, from which colour, marker and dashes follow."""
_NAN = float("nan")


def paint_figure(figure: Figure, numbers: Numbers) -> Sheet:
    """One figure with its legend inside."""
    painted = sheet(2.4)
    axes = painted.subplots()
    _plot(axes, figure, numbers)
    axes.set(xlabel=figure.x.title, ylabel=figure.y.title)
    axes.set_title(figure.title, loc="left")
    axes.legend(loc="best")
    return painted


def paint_panels(panels: Panels, numbers: Numbers) -> Sheet:
    """Figures above one another on one horizontal axis, with one legend below."""
    count = len(panels.figures)
    painted = sheet(0.6 + 0.85 * count)
    rows = painted.subplots(count, 1, sharex=True, squeeze=False)[:, 0]
    for axes, figure in zip(rows, panels.figures, strict=True):
        _plot(axes, figure, numbers)
        what = f"{figure.title}, {figure.y.title}"
        axes.annotate(
            what, (0, 1), (0, 2), xycoords="axes fraction", textcoords="offset points", fontsize=6.5
        )
    rows[0].set_title(panels.title, loc="left", pad=14)
    rows[-1].set_xlabel(panels.figures[-1].x.title)
    painted.legend(*rows[0].get_legend_handles_labels(), loc="outside lower center", ncols=3)
    return painted


def _plot(axes: Axes, figure: Figure, numbers: Numbers) -> None:
    set_ticks(axes.xaxis, figure.x)
    set_ticks(axes.yaxis, figure.y)
    axes.set(xlim=(0, 100), ylim=(0, 100))
    axes.grid(axis="both" if figure.x.grid else "y")
    for span in figure.shaded:
        axes.axvspan(*map(figure.x.scale.at, span), color=SHADED, linewidth=0, zorder=0)
    if figure.zero:
        axes.axhline(figure.y.scale.at(0.0), color=BOUND, linewidth=0.8, zorder=1)
    if figure.upright is not None:
        axes.axvline(figure.x.scale.at(figure.upright), color=BOUND, linewidth=0.8, zorder=1)
    for name in figure.series:
        number = numbers.get(name, 0)
        for band in (each for each in figure.bands if each.series == name):
            _band(axes, figure, band, number)
        lines = [each for each in figure.lines if each.series == name]
        for each in lines:
            _line(axes, figure, each, number)
        _points(axes, figure, name, number, joined=not lines)


def _band(axes: Axes, figure: Figure, band: Band, number: int) -> None:
    known = [place or (_NAN, _NAN, _NAN) for place in band.places]
    x = [figure.place(band.series, at, low)[0] for at, low, _ in known]
    low, high = ([figure.y.scale.at(place[end]) for place in known] for end in (1, 2))
    axes.fill_between(x, low, high, color=line(number)["color"], alpha=0.15, linewidth=0)


def _line(axes: Axes, figure: Figure, each: Line, number: int) -> None:
    known = [figure.place(each.series, *(place or (_NAN, _NAN))) for place in each.places]
    axes.plot(*zip(*known, strict=True), **{**line(number), **(FITTED if each.fitted else {})})


def _points(axes: Axes, figure: Figure, name: str, number: int, *, joined: bool) -> None:
    """Points and intervals, joined where no line runs through them: dashes tell them apart."""
    points = [point for point in figure.points if point.series == name]
    places = [figure.place(name, point.x, point.y) for point in points]
    look = series(number) if points else line(number)
    axes.plot([], [], label=name, **look)
    if joined:
        axes.plot([left for left, _ in places], [up for _, up in places], **line(number))
    for point, (left, up) in zip(points, places, strict=True):
        if point.low is not None and point.high is not None:
            ends = [figure.y.scale.at(point.low), figure.y.scale.at(point.high)]
            axes.plot([left, left], ends, color=look["color"], linewidth=0.8)
        fill = "white" if point.hollow else look["color"]
        axes.plot([left], [up], **look, markerfacecolor=fill)
