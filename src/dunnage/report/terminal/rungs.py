"""What each deployment adds to the one before it, as a table for the terminal."""

from __future__ import annotations

from collections.abc import Iterator

from rich import box
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from dunnage.findings.rungs.figures import ladders
from dunnage.findings.rungs.sentences import READING_TABLE
from dunnage.model.analysis import Analysis


def rungs_tables(analysis: Analysis) -> Iterator[RenderableType]:
    """One table for each condition, with a row for each step; nothing without a ladder."""
    found = ladders(analysis)
    if found:
        yield Text(READING_TABLE, style="dim")
    for each in found:
        table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
        table.add_column(Text(f"{each.title}, {each.unit}"), overflow="fold")
        for title in each.columns[1:]:
            table.add_column(Text(title), overflow="fold")
        for name, (_, *cells) in each.rows:
            table.add_row(Text(name), *map(Text, cells))
        yield table
        yield Text("\n".join((*each.notes, "")), style="dim")
