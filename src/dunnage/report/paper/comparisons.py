"""Differences from a baseline: the forest of a metric, and quantiles along the tail."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from dunnage.findings.differences import sentences
from dunnage.findings.differences.answer import Condition
from dunnage.findings.tails.figures import QUANTILES
from dunnage.model.analysis import Comparison
from dunnage.model.estimate import Estimate
from dunnage.model.explanation import LatencyDifference
from dunnage.report.paper.style import VERDICTS, series
from dunnage.wording import numbers, terms

Group = tuple[Condition, Sequence[Comparison]]
Ends = tuple[float | None, float | None]


def height_of(groups: Sequence[Group]) -> float:
    """Inches that a forest needs."""
    return 0.75 + sum(0.22 + 0.19 * len(cells) for _, cells in groups)


def draw_differences(figure: Figure, metric: str, groups: Sequence[Group]) -> None:
    """Every difference with its interval, the tolerance shaded and the twins' interval dashed."""
    axes = figure.subplots()
    y, places, names = 0.0, [], []
    for condition, cells in groups:
        head = y
        y += 1
        for cell in cells:
            _difference(axes, cell, y)
            places.append(y)
            names.append(terms.plain(cell.deployment))
            y += 1
        title = terms.condition(condition.workload, condition.level)
        axes.text(
            0.0, head, title, transform=axes.get_yaxis_transform(), va="center", weight="bold"
        )
        twins = condition.twins.get(metric)
        ends = None if twins is None else (twins.difference.low, twins.difference.high)
        _bands(axes, cells[0].tolerance, ends, head + 0.5, y - 0.5)
    axes.axvline(0.0, color="#8b8478", linewidth=0.8, zorder=1)
    axes.set_ylim(y - 0.4, -0.6)
    axes.set_yticks(places, names)
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)
    axes.grid(axis="x")
    percent_axis(axes, "x")
    left, right = sentences.better(metric)
    axes.set_xlabel(f"{terms.phrase(metric)}, difference\n← {left}        {right} →")


def draw_shift(
    figure: Figure, title: str, found: Sequence[LatencyDifference], order: Mapping[str, int]
) -> None:
    """The difference of each quantile from the baseline's, with simultaneous intervals."""
    axes = figure.subplots()
    for place, difference in enumerate(found):
        look = series(order.get(difference.deployment, place))
        shift = 0.02 * (place - (len(found) - 1) / 2)
        x = [tail_place(quantile.share) + shift for quantile in difference.quantiles]
        y = [quantile.difference.value for quantile in difference.quantiles]
        axes.plot(x, y, label=terms.plain(difference.deployment), **look)
        for at, quantile in zip(x, difference.quantiles, strict=True):
            low, high = quantile.difference.low, quantile.difference.high
            if low is not None and high is not None:
                axes.plot([at, at], [low, high], color=look["color"], linewidth=0.8)
    axes.axhline(0.0, color="#8b8478", linewidth=0.8, zorder=1)
    quantile_axis(axes, max(q.share for each in found for q in each.quantiles))
    percent_axis(axes, "y")
    axes.set_ylabel(f"{found[0].kind} time, difference")
    axes.set_title(title, loc="left")
    axes.grid()
    axes.legend(loc="best")


def tail_place(quantile: float) -> float:
    """Decades of what lies beyond a quantile: 1 for p90, 2 for p99."""
    return -math.log10(1 - quantile)


def quantile_axis(axes: Axes, last: float) -> None:
    """Name the quantiles below the axis of the tail."""
    shown = {name: share for name, share in QUANTILES.items() if share <= last * 1.0000001}
    shown = {name: share for name, share in shown.items() if name != "p95"}
    axes.set_xticks([tail_place(share) for share in shown.values()], list(shown))
    axes.set_xlabel("quantile (logarithm of what lies beyond)")


def percent_axis(axes: Axes, which: str) -> None:
    """Write the marks of an axis of differences as the page does."""
    axis = axes.xaxis if which == "x" else axes.yaxis
    axis.set_major_locator(MaxNLocator(5, steps=[1, 2, 5, 10]))
    axis.set_major_formatter(lambda value, _position: numbers.tick(value))


def ends(estimate: Estimate) -> tuple[float, float] | None:
    """Both ends of an interval, or None."""
    if estimate.low is None or estimate.high is None:
        return None
    return estimate.low, estimate.high


def _difference(axes: Axes, cell: Comparison, y: float) -> None:
    if not cell.difference.n:
        return
    colour, marker = VERDICTS[cell.verdict.value]
    interval = ends(cell.difference)
    if interval is not None:
        axes.plot(interval, [y, y], color=colour, linewidth=1.6, solid_capstyle="round", zorder=3)
    filled = colour if cell.verdict.value != "inconclusive" else "white"
    axes.plot(
        [cell.difference.value],
        [y],
        marker=marker,
        color=colour,
        markerfacecolor=filled,
        linestyle="none",
        zorder=4,
    )


def _bands(axes: Axes, tolerance: float, twins: Ends | None, top: float, bottom: float) -> None:
    axes.fill_betweenx([top, bottom], -tolerance, tolerance, color="#efeadd", linewidth=0, zorder=0)
    for end in twins or ():
        if end is not None:
            axes.plot([end, end], [top, bottom], color="#8b8478", linewidth=0.7, dashes=(3, 3))
