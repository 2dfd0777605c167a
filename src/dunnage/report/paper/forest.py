"""A forest by matplotlib: each difference with its interval, its verdict by colour and marker."""

from __future__ import annotations

from matplotlib.axes import Axes
from matplotlib.figure import Figure as Sheet

from dunnage.drawing.forest import Forest, Group
from dunnage.drawing.scale import Scale
from dunnage.model.analysis import Comparison
from dunnage.report.paper.style import BOUND, SHADED, VERDICTS, set_ticks, sheet
from dunnage.wording import terms


def paint_forest(forest: Forest) -> Sheet:
    """Every group that has a point; the tolerance shaded, the twins' interval dashed."""
    groups = [group for group in forest.groups if any(row.difference.n for row in group.rows)]
    painted = sheet(0.75 + sum(0.22 + 0.19 * len(group.rows) for group in groups))
    axes, scale = painted.subplots(), forest.axis.scale
    y, names = 0, {}
    for group in groups:
        axes.text(
            0.0, y, group.title, transform=axes.get_yaxis_transform(), va="center", weight="bold"
        )
        _bands(axes, scale, group, y + 0.5, y + len(group.rows) + 0.5)
        for place, row in enumerate(group.rows, start=y + 1):
            names[place] = terms.plain(row.deployment)
            _difference(axes, scale, row, place)
        y += len(group.rows) + 1
    axes.axvline(scale.at(0.0), color=BOUND, linewidth=0.8, zorder=1)
    axes.set(xlim=(0, 100), ylim=(y - 0.4, -0.6))
    axes.set_yticks(list(names), list(names.values()))
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)
    axes.grid(axis="x")
    set_ticks(axes.xaxis, forest.axis)
    left, right = forest.sides
    axes.set_xlabel(f"{forest.axis.title}\n← {left}        {right} →")
    return painted


def _difference(axes: Axes, scale: Scale, row: Comparison, y: float) -> None:
    seen = row.difference
    if not seen.n:
        return
    colour, marker = VERDICTS[row.verdict.value]
    if seen.low is not None and seen.high is not None:
        ends = [scale.at(seen.low), scale.at(seen.high)]
        axes.plot(ends, [y, y], color=colour, linewidth=1.6, solid_capstyle="round", zorder=3)
    axes.plot(
        [scale.at(seen.value)],
        [y],
        marker=marker,
        color=colour,
        markerfacecolor="white" if row.verdict.value == "inconclusive" else colour,
        linestyle="none",
        zorder=4,
    )


def _bands(axes: Axes, scale: Scale, group: Group, top: float, bottom: float) -> None:
    shaded = scale.at(-group.tolerance), scale.at(group.tolerance)
    axes.fill_betweenx([top, bottom], *shaded, color=SHADED, linewidth=0, zorder=0)
    twins = group.twins.difference if group.twins is not None else None
    for end in (twins.low, twins.high) if twins is not None else ():
        if end is not None:
            axes.plot([scale.at(end)] * 2, [top, bottom], color=BOUND, linewidth=0.7, dashes=(3, 3))
