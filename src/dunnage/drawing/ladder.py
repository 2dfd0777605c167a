"""Ladders: bars of which each starts where the last one ended, and the whole below them."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from dunnage.drawing.figure import Axis, Tabled


class Kind(StrEnum):
    """What the bar of a rung stands for."""

    STEP = "step"
    REST = "rest"
    """What the steps do not add up to, as not all of them have the same blocks; hatched."""
    WHOLE = "whole"


@dataclass(frozen=True)
class Rung:
    """One bar, from `start` to `end` on the axis; both are the same where nothing is known."""

    name: str
    kind: Kind
    start: float
    end: float
    value: str
    """Its length, and the interval of that."""
    low: float | None = None
    high: float | None = None
    """Where its interval ends on the axis, if it has one."""


@dataclass(frozen=True)
class Ladder:
    """The bars of one quantity on an axis of its own."""

    title: str
    axis: Axis
    rungs: tuple[Rung, ...]


@dataclass(frozen=True)
class Ladders(Tabled):
    """One picture; the table behind it has a row for each step and a column for each ladder."""

    name: str
    title: str
    unit: str
    ladders: tuple[Ladder, ...]
    notes: tuple[str, ...]
    """What must be known to read it, in sentences."""
