"""A table as a plain value: what every file of a table and every data frame is written from."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Generic, TypeVar

from dunnage.report.tables.column import Cell, Column

Row = TypeVar("Row")


@dataclass(frozen=True)
class Table(Generic[Row]):
    """Columns and the rows that their cells are taken from."""

    name: str
    """Stem of its file."""
    title: str
    columns: Sequence[Column[Row]]
    rows: Sequence[Row]

    @property
    def heads(self) -> list[str]:
        """What stands above the columns for people."""
        return [column.head for column in self.columns]

    @cached_property
    def shown(self) -> list[list[Cell]]:
        """All cells for people, row by row."""
        return [[column.show(row) for column in self.columns] for row in self.rows]

    @property
    def numeric(self) -> list[bool]:
        """Whether each column shows numbers only, so that it is set to the right."""
        return [_numeric([row[place] for row in self.shown]) for place in range(len(self.columns))]


def untyped(name: str, title: str, rows: Iterable[Mapping[str, Cell]]) -> Table[Mapping[str, Cell]]:
    """A table whose columns are those of its rows; what a row lacks is empty there."""
    found = list(rows)
    columns = dict.fromkeys(column for row in found for column in row)
    return Table(name, title, [_column(column) for column in columns], found)


def picked(columns: Iterable[Column[Any]], names: Iterable[str]) -> list[Column[Any]]:
    """Some of the columns, in the order of the names."""
    by_name = {column.name: column for column in columns}
    return [by_name[name] for name in names]


def _column(name: str) -> Column[Mapping[str, Cell]]:
    return Column(name, None, lambda row: row.get(name))


def _numeric(cells: Sequence[Cell]) -> bool:
    known = [cell for cell in cells if cell is not None]
    return bool(known) and all(
        isinstance(cell, int | float) and not isinstance(cell, bool) for cell in known
    )
