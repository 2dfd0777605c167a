"""Stacked bars, as values: what a figure and the table behind it are made of."""

from __future__ import annotations

from dataclasses import dataclass

from dunnage.drawing.scale import Scale


@dataclass(frozen=True)
class Segment:
    """A part of a bar."""

    part: str
    start: float
    width: float
    text: str


@dataclass(frozen=True)
class Bar:
    """One bar: its parts side by side, below them what is contained in them already."""

    name: str
    segments: tuple[Segment, ...]
    total: str
    contained: tuple[Segment, ...] = ()


@dataclass(frozen=True)
class Bars:
    """One figure; the table behind it has a row for each bar."""

    title: str
    unit: str
    parts: tuple[str, ...]
    contained: tuple[str, ...]
    scale: Scale
    bars: tuple[Bar, ...]
    cells: str
    """What the cells of the table hold."""
    columns: tuple[str, ...]
    rows: tuple[tuple[str, tuple[str, ...]], ...]
