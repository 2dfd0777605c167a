"""A column, declared once: programs get its cells in SI units, people in the shown unit."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Generic, TypeVar

Cell = str | int | float | bool | datetime | tuple[str, ...] | None
Row = TypeVar("Row", contravariant=True)


class ColumnType(StrEnum):
    """Arrow's name of what a column holds; every column may be null."""

    TEXT = "string"
    COUNT = "int64"
    NUMBER = "double"
    TRUTH = "bool"
    TEXTS = "list<string>"
    MOMENT = "timestamp[us, tz=UTC]"


@dataclass(frozen=True)
class Shown:
    """The unit in which people read a number, what makes it of the SI unit, and how exactly."""

    unit: str
    scale: float = 1.0
    digits: int = 17
    """Significant ones; with 17 a number stays as it is."""


@dataclass(frozen=True)
class Column(Generic[Row]):
    """One column, and how its cell is taken from a row."""

    name: str
    type: ColumnType | None
    """None where it is whatever the cells are."""
    of: Callable[[Row], Cell]
    meaning: str = ""
    unit: str = ""
    """SI; empty for what is no quantity."""
    shown: Shown | None = None
    called: str = ""
    """What people read in place of the name."""

    @property
    def head(self) -> str:
        """What stands above it for people, with its unit: `low [%]`."""
        name = self.called or self.name
        return f"{name} [{self.shown.unit}]" if self.shown else name

    def show(self, row: Row) -> Cell:
        """The cell for people."""
        cell = self.of(row)
        if self.shown and isinstance(cell, int | float):
            return float(f"{cell * self.shown.scale:.{self.shown.digits}g}")
        if isinstance(cell, tuple):
            return joined(cell)
        return words(cell) if self.type is ColumnType.TRUTH else cell


def text(
    name: str, of: Callable[[Row], str | None], meaning: str = "", called: str = ""
) -> Column[Row]:
    """A column of words."""
    return Column(name, ColumnType.TEXT, of, meaning, called=called)


def count(
    name: str, of: Callable[[Row], int | None], meaning: str = "", called: str = ""
) -> Column[Row]:
    """A column of whole numbers."""
    return Column(name, ColumnType.COUNT, of, meaning, called=called)


def number(
    name: str,
    of: Callable[[Row], float | None],
    meaning: str = "",
    unit: str = "",
    shown: Shown | None = None,
    called: str = "",
) -> Column[Row]:
    """A column of numbers in an SI unit."""
    return Column(name, ColumnType.NUMBER, of, meaning, unit, shown, called)


def share(
    name: str, of: Callable[[Row], float | None], meaning: str = "", called: str = ""
) -> Column[Row]:
    """A column of shares of one, which people read in percent."""
    return number(name, of, meaning, "share", Shown("%", 1e2, digits=6), called)


def words(cell: Cell) -> str:
    """A cell for people: six significant digits, yes or no, nothing for None."""
    if cell is None:
        return ""
    if isinstance(cell, bool):
        return "yes" if cell else "no"
    return f"{cell:.6g}" if isinstance(cell, float) else str(cell)


def joined(items: Iterable[object]) -> str:
    """Several things in one cell."""
    return "; ".join(map(str, items))
