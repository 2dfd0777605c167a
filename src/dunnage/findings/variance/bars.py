"""Stacked bars: how the variance divides between blocks, stays and runs."""

from __future__ import annotations

from dunnage.drawing.figure import Axis
from dunnage.drawing.scale import linear
from dunnage.drawing.stack import Bar, Stack, side_by_side
from dunnage.model.analysis import Analysis
from dunnage.model.variance import VariancePart, VarianceSplit
from dunnage.wording import numbers, terms


def variance_bars(analysis: Analysis) -> Stack | None:
    """How the variance of each metric divides between blocks, stays and runs."""
    splits = [split for split in analysis.variance if split.parts]
    if not splits:
        return None
    parts = tuple(dict.fromkeys(part.part for split in splits for part in split.parts))
    known = [{part.part: part for part in split.parts} for split in splits]
    names = [_name(split) for split in splits]
    return Stack(
        name="variance",
        title="Parts of the variance",
        what="Parts of the variance",
        unit="shares",
        axis=Axis("share of the variance, %", linear([0.0, 100.0]), lambda percent: f"{percent:g}"),
        parts=parts,
        below=(),
        bars=tuple(
            Bar(
                name,
                side_by_side(_segment(part, found.get(part)) for part in parts),
                numbers.count(split.blocks, "block"),
            )
            for name, split, found in zip(names, splits, known, strict=True)
        ),
        cells="share of the variance, and the part's own standard deviation",
        columns=parts,
        rows=tuple(
            (name, tuple(_cell(found.get(part)) for part in parts))
            for name, found in zip(names, known, strict=True)
        ),
    )


def _name(split: VarianceSplit) -> str:
    where = f"{terms.plain(split.workload)}, {terms.level(split.level)}"
    return f"{terms.title(split.metric)}; {where}"


def _segment(name: str, part: VariancePart | None) -> tuple[str, float, str]:
    if part is None:
        return name, 0.0, "none"
    return name, part.share * 100, f"{part.share * 100:.0f} %"


def _cell(part: VariancePart | None) -> str:
    return "none" if part is None else f"{part.share * 100:.0f} %, ±{part.spread * 100:.2g} %"
