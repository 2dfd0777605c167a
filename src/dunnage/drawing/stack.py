"""Stacked bars: what a figure and the table behind it are made of."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from dunnage.drawing.figure import Axis, Tabled


@dataclass(frozen=True)
class Segment:
    """A part of a bar, from `start` to `end` on the axis."""

    part: str
    start: float
    end: float
    text: str


@dataclass(frozen=True)
class Bar:
    """One bar: its parts side by side, and below them what does not add up with them."""

    name: str
    segments: tuple[Segment, ...]
    total: str
    below: tuple[Segment, ...] = ()


@dataclass(frozen=True)
class Stack(Tabled):
    """One figure; the table behind it has a row for each bar."""

    name: str
    title: str
    what: str
    unit: str
    axis: Axis
    parts: tuple[str, ...]
    below: tuple[str, ...]
    """What does not add up with the parts, each with the reason."""
    bars: tuple[Bar, ...]
    cells: str
    """What the cells of the table hold."""


def side_by_side(parts: Iterable[tuple[str, float, str]]) -> tuple[Segment, ...]:
    """Segments one after the other, of name, length and text."""
    laid, reached = [], 0.0
    for part, length, text in parts:
        laid.append(Segment(part, reached, reached + length, text))
        reached += length
    return tuple(laid)
