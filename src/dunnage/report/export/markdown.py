"""A table as Markdown (the pipe tables of GitHub's dialect), with every text escaped."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from dunnage.report.tables.column import words
from dunnage.report.tables.table import Table
from dunnage.wording.terms import plain

_ENTITIES: Mapping[str, str] = {"&": "&amp;", "<": "&lt;", ">": "&gt;"}
_PART = re.compile(r"[&<>]|[\\`*_{}\[\]()#+!|~$:@]|\s+")


def escaped(text: str) -> str:
    """Any text as Markdown shows it literally, on one line; nothing in it is markup or HTML."""
    return _PART.sub(_escape, plain(text)).strip()


def document(table: Table[Any]) -> str:
    """A heading and a pipe table; numbers to the right."""
    lines = [
        f"## {escaped(table.title)}",
        "",
        _row(map(escaped, table.heads)),
        _row("---:" if right else "---" for right in table.numeric),
        *(_row(escaped(words(cell)) for cell in row) for row in table.shown),
    ]
    return "\n".join(lines) + "\n"


def _row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _escape(match: re.Match[str]) -> str:
    found = match[0]
    if found.isspace():
        return " "
    return _ENTITIES.get(found) or f"\\{found}"
