"""A table as a plain value: what CSV, LaTeX and Markdown files are written from."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

Cell = str | int | float | bool | None


@dataclass(frozen=True)
class Sheet:
    """One table of the report. Column heads carry units, as `low [%]`."""

    name: str
    """Stem of its file."""
    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]

    @classmethod
    def of(cls, name: str, title: str, rows: Iterable[Mapping[str, Cell]]) -> Sheet:
        """Make a sheet of rows by column; a column that a row lacks is empty there."""
        found = list(rows)
        columns = tuple(dict.fromkeys(column for row in found for column in row))
        return cls(name, title, columns, tuple(tuple(row.get(c) for c in columns) for row in found))

    def numeric(self, column: int) -> bool:
        """Whether a column holds numbers only, so that it is set to the right."""
        cells = [row[column] for row in self.rows if row[column] is not None]
        return bool(cells) and all(
            isinstance(cell, int | float) and not isinstance(cell, bool) for cell in cells
        )


def text(cell: Cell) -> str:
    """A cell for people: six significant digits, yes or no, nothing for None."""
    if cell is None:
        return ""
    if isinstance(cell, bool):
        return "yes" if cell else "no"
    return f"{cell:.6g}" if isinstance(cell, float) else str(cell)


def joined(items: Sequence[object]) -> str:
    """Several things in one cell."""
    return "; ".join(str(item) for item in items)
