"""Where a figure's lines, bands and points lie on the page, in percent, so that it stretches."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import TypeVar

from dunnage.drawing.figure import Axis, Band, Figure, Line

T = TypeVar("T", bound=tuple[float, ...])
MOST = 240
"""Places that a line has at most; a screen shows no more."""


def down(axis: Axis, value: float) -> float:
    """The place of a value on a vertical axis, in percent from the top."""
    return round(100 - axis.scale.at(value), 2)


def path(figure: Figure, line: Line) -> str:
    """A line through a box of 1000 by 1000."""
    runs = _unbroken(line.places)
    return "".join(f"M{'L'.join(_place(figure, line.series, *at) for at in run)}" for run in runs)


def area(figure: Figure, band: Band) -> str:
    """The closed outlines of a band in the same box."""
    outlines = []
    for run in _unbroken(band.places):
        there = [_place(figure, band.series, x, high) for x, _, high in run]
        back = [_place(figure, band.series, x, low) for x, low, _ in reversed(run)]
        outlines.append(f"M{'L'.join(there + back)}Z")
    return "".join(outlines)


def _unbroken(places: Sequence[T | None]) -> Iterator[list[T]]:
    """Runs of places between those that are not known."""
    for known, run in groupby(places, lambda place: place is not None):
        if known:
            yield list(_thinned([place for place in run if place is not None], len(places)))


def _thinned(run: Sequence[T], of: int) -> Iterator[T]:
    """About `MOST` of `of` places: of every few the first, lowest, highest and last, in order."""
    few = 4 * -(-of // MOST) if of > MOST else 1
    for begin in range(0, len(run), few):
        group = run[begin : begin + few]
        lowest = min(range(len(group)), key=lambda at: group[at][1])
        highest = max(range(len(group)), key=lambda at: group[at][-1])
        yield from (group[at] for at in sorted({0, lowest, highest, len(group) - 1}))


def _place(figure: Figure, series: str, x: float, y: float) -> str:
    left, up = figure.place(series, x, y)
    return f"{left * 10:.0f},{round(100 - up, 2) * 10:.0f}"
