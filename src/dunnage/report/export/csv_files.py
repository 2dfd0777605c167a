"""A table as CSV, and the two that stand beside every report."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import Any

from dunnage.model.analysis import Analysis
from dunnage.report.tables.column import Cell
from dunnage.report.tables.comparisons import comparisons
from dunnage.report.tables.runs import runs
from dunnage.report.tables.table import Table
from dunnage.store.write import write_again


def write_csv(analysis: Analysis, directory: Path) -> tuple[Path, ...]:
    """Write `answers.csv` and `runs.csv` into a directory and return their paths.

    Raises UnwrittenError when they cannot be written.
    """
    tables: tuple[Table[Any], ...] = (comparisons(analysis), runs(analysis))
    return tuple(
        write_again(directory / f"{table.name}.csv", document(table).encode()) for table in tables
    )


def document(table: Table[Any]) -> str:
    """A head and the rows; texts that a spreadsheet would run are made harmless."""
    written = io.StringIO(newline="")
    writer = csv.writer(written)
    writer.writerow(table.heads if table.rows else ("nothing measured",))
    writer.writerows([_harmless(cell) for cell in row] for row in table.shown)
    return written.getvalue()


def _harmless(cell: Cell) -> Cell:
    """Text that a spreadsheet would run as a formula gets an apostrophe in front of it."""
    if isinstance(cell, str) and cell.startswith(("=", "+", "-", "@", "\t", "\r")):
        return "'" + cell
    return cell
