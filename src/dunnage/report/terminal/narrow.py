"""What is shown where a table does not fit: a number without its name says nothing."""

from __future__ import annotations

from dataclasses import dataclass

from rich.console import Console, ConsoleOptions, RenderableType, RenderResult


@dataclass(frozen=True)
class ByWidth:
    """A table, and the same as lines for a terminal of fewer columns than it needs."""

    table: RenderableType
    lines: RenderableType
    needs: int
    """Columns."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        yield self.table if options.max_width >= self.needs else self.lines
