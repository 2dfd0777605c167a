"""Ladders by matplotlib: bars that start where the last one ended, intervals as lines."""

from __future__ import annotations

from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure as Sheet

from dunnage.drawing.ladder import Kind, Ladder, Ladders, Rung
from dunnage.report.paper.plot import Numbers
from dunnage.report.paper.style import BOUND, COLOURS, set_ticks, sheet

_FURTHER = 0.72
"""Inches that a ladder takes beside its rungs: its title, its ticks and what they measure."""


def paint_ladders(ladders: Ladders, numbers: Numbers) -> Sheet:
    """A ladder below the other, each on its own axis."""
    heights = [_FURTHER + 0.2 * len(ladder.rungs) for ladder in ladders.ladders]
    painted = sheet(0.2 + sum(heights))
    rows = painted.subplots(len(heights), 1, squeeze=False, height_ratios=heights)[:, 0]
    for axes, ladder in zip(rows, ladders.ladders, strict=True):
        _paint(axes, ladder, numbers)
    painted.suptitle(ladders.title, fontsize=7.5)
    return painted


def _paint(axes: Axes, ladder: Ladder, numbers: Numbers) -> None:
    at = ladder.axis.scale.at
    for row, rung in enumerate(ladder.rungs):
        start, end = at(rung.start), at(rung.end)
        axes.barh(row, end - start, left=start, height=0.62, **_look(rung, numbers))
        if rung.low is not None and rung.high is not None:
            ends = [at(rung.low), at(rung.high)]
            axes.plot(ends, [row, row], color="white", linewidth=2.0)  # seen on dark bars too
            axes.plot(ends, [row, row], color="black", linewidth=0.8)
    axes.axvline(at(0.0), color=BOUND, linewidth=0.8, zorder=1)
    axes.set_yticks(range(len(ladder.rungs)), [rung.name for rung in ladder.rungs])
    axes.set(xlim=(0, 100), xlabel=ladder.axis.title)
    set_ticks(axes.xaxis, ladder.axis)
    axes.invert_yaxis()
    axes.tick_params(axis="y", length=0)
    axes.grid(axis="x")
    axes.set_title(ladder.title, loc="left")


def _look(rung: Rung, numbers: Numbers) -> dict[str, Any]:
    if rung.kind is Kind.REST:
        return {"facecolor": "white", "edgecolor": BOUND, "hatch": "////", "linewidth": 0.6}
    if rung.kind is Kind.WHOLE:
        return {"color": BOUND}
    return {"color": COLOURS[numbers.get(rung.name, 0) % len(COLOURS)]}
