"""A table as Markdown (the pipe tables of GitHub's dialect), with every text escaped."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from dunnage.report.export.sheet import Sheet, text
from dunnage.wording.terms import plain

_ENTITIES: Mapping[str, str] = {"&": "&amp;", "<": "&lt;", ">": "&gt;"}
_PART = re.compile(r"[&<>]|[\\`*_{}\[\]()#+!|~$:@]|\s+")


def escaped(words: str) -> str:
    """Any text as Markdown shows it literally, on one line; nothing in it is markup or HTML."""
    return _PART.sub(_escape, plain(words)).strip()


def table(sheet: Sheet) -> str:
    """A heading and a pipe table; numbers to the right."""
    numeric = [sheet.numeric(column) for column in range(len(sheet.columns))]
    lines = [
        f"## {escaped(sheet.title)}",
        "",
        _row(escaped(column) for column in sheet.columns),
        _row("---:" if right else "---" for right in numeric),
        *(_row(escaped(text(cell)) for cell in row) for row in sheet.rows),
    ]
    return "\n".join(lines) + "\n"


def _row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _escape(match: re.Match[str]) -> str:
    found = match[0]
    if found.isspace():
        return " "
    return _ENTITIES.get(found) or f"\\{found}"
