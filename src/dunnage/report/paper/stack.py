"""Stacked bars by matplotlib, their parts told apart by hatches too."""

from __future__ import annotations

from matplotlib.figure import Figure as Sheet

from dunnage.drawing.stack import Stack
from dunnage.report.paper.style import FILLS, HATCHES, set_ticks, sheet


def paint_stack(stack: Stack) -> Sheet:
    """A row for each bar, with the legend below. What others contain is in the table alone."""
    painted = sheet(0.95 + 0.24 * len(stack.bars))
    axes, at = painted.subplots(), stack.axis.scale.at
    rows = range(len(stack.bars))
    for number, part in enumerate(stack.parts):
        own = [bar.segments[number] for bar in stack.bars]
        axes.barh(
            rows,
            [at(segment.end) - at(segment.start) for segment in own],
            left=[at(segment.start) for segment in own],
            height=0.66,
            label=part,
            color=FILLS[number % len(FILLS)],
            hatch=HATCHES[number % len(HATCHES)],
            edgecolor="white",
            linewidth=0.4,
        )
    axes.set_yticks(rows, [bar.name.replace("; ", ";\n") for bar in stack.bars])
    axes.set(xlim=(0, 100), xlabel=stack.axis.title)
    set_ticks(axes.xaxis, stack.axis)
    axes.invert_yaxis()
    axes.tick_params(axis="y", length=0)
    axes.grid(axis="x")
    axes.set_title(stack.title, loc="left")
    painted.legend(loc="outside lower center", ncols=3)
    return painted
