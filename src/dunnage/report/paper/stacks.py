"""Stacked bars: the CPU time of an operation, the parts of the variance."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from dunnage.findings.cpu.bars import METRIC, part_title, parts_of
from dunnage.model.analysis import Share
from dunnage.model.metrics import METRICS
from dunnage.model.variance import VarianceSplit
from dunnage.report.paper.style import FILLS, HATCHES
from dunnage.wording import terms


def draw_cpu(figure: Figure, title: str, shares: Sequence[Share]) -> None:
    """CPU per operation of each deployment by part."""
    axes = figure.subplots()
    parts = parts_of(shares)
    scale = METRICS[METRIC].scale
    amounts: dict[str, dict[str, float]] = {}
    for share in shares:
        bars = amounts.setdefault(terms.plain(share.deployment), {})
        if not share.contained:
            bars[share.part] = share.seconds_per_operation * scale
    _stack(axes, amounts, {part: part_title(part) for part in parts})
    axes.set_xlabel(f"CPU per operation, {METRICS[METRIC].unit}")
    axes.set_title(title, loc="left")
    figure.legend(loc="outside lower center", ncols=3)


def draw_variance(figure: Figure, splits: Sequence[VarianceSplit]) -> None:
    """Which share of the variance lies between blocks, stays and runs."""
    axes = figure.subplots()
    amounts = {
        _place(split): {part.part: part.share * 100 for part in split.parts} for split in splits
    }
    parts = dict.fromkeys(part.part for split in splits for part in split.parts)
    _stack(axes, amounts, {part: terms.plain(part) for part in parts})
    axes.set_xlim(0, 100)
    axes.set_xlabel("share of the variance, %")
    figure.legend(loc="outside lower center", ncols=3)


def _place(split: VarianceSplit) -> str:
    where = f"{terms.plain(split.workload)}, {terms.level(split.level)}"
    return f"{terms.phrase(split.metric)},\n{where}"


def _stack(
    axes: Axes, amounts: Mapping[str, Mapping[str, float]], titles: Mapping[str, str]
) -> None:
    names = list(amounts)
    reached = [0.0] * len(names)
    for number, (part, title) in enumerate(titles.items()):
        widths = [amounts[name].get(part, 0.0) for name in names]
        axes.barh(
            range(len(names)),
            widths,
            left=reached,
            height=0.66,
            label=title,
            color=FILLS[number % len(FILLS)],
            hatch=HATCHES[number % len(HATCHES)],
            edgecolor="white",
            linewidth=0.4,
        )
        reached = [left + width for left, width in zip(reached, widths, strict=True)]
    axes.set_yticks(range(len(names)), names)
    axes.invert_yaxis()
    axes.tick_params(axis="y", length=0)
    axes.grid(axis="x")
