"""Stacked bars: how the variance divides between blocks, stays and runs."""

from __future__ import annotations

from collections.abc import Sequence

from dunnage.drawing.scale import linear
from dunnage.drawing.stack import Bar, Bars, Segment
from dunnage.model.analysis import Analysis
from dunnage.model.variance import VarianceSplit
from dunnage.wording import numbers, terms


def variance_bars(analysis: Analysis) -> Bars | None:
    """How the variance of each metric divides between blocks, stays and runs."""
    splits = [split for split in analysis.variance if split.parts]
    return _variance(splits) if splits else None


def _variance(splits: Sequence[VarianceSplit]) -> Bars:
    parts = tuple(dict.fromkeys(part.part for split in splits for part in split.parts))
    scale = linear([0.0, 1.0])
    laid, rows = [], []
    for split in splits:
        where = f"{terms.plain(split.workload)}, {terms.level(split.level)}"
        name = f"{terms.title(split.metric)}; {where}"
        known = {part.part: part for part in split.parts}
        reached = 0.0
        segments = []
        for part in parts:
            share = known[part].share if part in known else 0.0
            text = f"{share * 100:.0f} %" if part in known else "none"
            segments.append(Segment(part, round(reached * 100, 2), round(share * 100, 2), text))
            reached += share
        laid.append(Bar(name, tuple(segments), numbers.count(split.blocks, "block")))
        rows.append(
            (
                name,
                tuple(
                    f"{known[part].share * 100:.0f} %, ±{known[part].spread * 100:.2g} %"
                    if part in known
                    else "none"
                    for part in parts
                ),
            )
        )
    return Bars(
        title="Parts of the variance",
        unit="shares",
        parts=parts,
        contained=(),
        scale=scale,
        bars=tuple(laid),
        cells="share of the variance, and the part's own standard deviation",
        columns=parts,
        rows=tuple(rows),
    )
