r"""A table as `tabular`s that need no package and fit the lines and pages of an article.

A wide table becomes several, and so does a long one. Each is a paragraph of its own, so that pages
may end between them. Heads and texts that are wide are broken into lines.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from dunnage.report.export.latex.columns import LINE, Column, arranged
from dunnage.report.export.latex.text import escaped, lines, number, pieces
from dunnage.report.tables.column import Cell, words
from dunnage.report.tables.table import Table
from dunnage.wording.terms import plain

MOST_LINES = 34
"""Of one `tabular`, its head included: an `article` at 12 pt has 36 on a page of letter paper."""
_BREAK = r"\allowbreak{}"


def document(table: Table[Any]) -> str:
    """`tabular`s with rules above, below the head, and below; numbers to the right.

    What is the same in every row of a wide table stands above them as a comment.
    """
    same, groups = arranged(table)
    told = [f"{table.heads[each.place]}: {words(table.shown[0][each.place])}" for each in same]
    comments = [f"% {' '.join(plain(text).split())}\n" for text in (table.title, *told)]
    tabulars = (each for group in groups for each in _tabulars(table, group))
    return "".join(comments) + "\n\\medskip\n".join(tabulars)


def _tabulars(table: Table[Any], columns: Sequence[Column]) -> Iterator[str]:
    """Some of the columns, as many rows in each `tabular` as a page has room for."""
    room = MOST_LINES - _height(columns)
    rows: list[str] = []
    taken = 0
    for height, row in _rows(table, columns, room):
        if rows and taken + height > room:
            yield _tabular(columns, rows)
            rows, taken = [], 0
        rows.append(row)
        taken += height
    yield _tabular(columns, rows)


def _tabular(columns: Sequence[Column], rows: Sequence[str]) -> str:
    r"""One of them. Whatever follows, no space does, for which there may be no room in its line."""
    kinds = "".join(map(_alignment, columns))
    begin, end = rf"\noindent\begin{{tabular}}{{{kinds}}}", r"\end{tabular}%"
    written = (begin, r"\hline", *_heads(columns), r"\hline", *rows, r"\hline", end)
    return "".join(f"{line}\n" for line in written)


def _alignment(column: Column) -> str:
    """Numbers to the right, texts to the left, long ones broken into lines."""
    if column.numeric:
        return "r"
    if not column.broken:
        return "l"
    thousandths = int(column.width / LINE * 1000)
    return rf"p{{0.{thousandths:03}\linewidth}}"


def _height(columns: Sequence[Column]) -> int:
    """Lines of the head."""
    return max((len(each.head) for each in columns), default=0)


def _heads(columns: Sequence[Column]) -> Iterator[str]:
    """The lines of the head; what has fewer stands at the bottom."""
    height = _height(columns)
    filled = [("",) * (height - len(each.head)) + each.head for each in columns]
    for line in zip(*filled, strict=True):
        yield _row(map(escaped, line), columns)


def _rows(table: Table[Any], columns: Sequence[Column], room: int) -> Iterator[tuple[int, str]]:
    """Every row with its height in lines; one that is higher than a page goes on in the next."""
    for row in table.shown:
        cells = [_lines(row[each.place], each) for each in columns]
        for start in range(0, max(map(len, cells)), room):
            parts = [cell[start : start + room] for cell in cells]
            texts = [_text(part, each) for part, each in zip(parts, columns, strict=True)]
            yield max(map(len, parts)), _row(texts, columns)


def _lines(cell: Cell, column: Column) -> Sequence[str]:
    """A cell line by line."""
    if isinstance(cell, int | float) and not isinstance(cell, bool):
        return (number(words(cell)),)
    if not column.broken:
        return (escaped(words(cell)),)
    found = lines(pieces(words(cell), column.width), column.width)
    return ["".join(map(_breakable, line)) for line in found]


def _breakable(piece: str) -> str:
    return escaped(piece) + _BREAK * (not piece.endswith(" "))


def _text(written: Sequence[str], column: Column) -> str:
    text = "".join(written).removesuffix(_BREAK)
    return rf"\raggedright {text}" if column.broken and text else text


def _row(cells: Iterable[str], columns: Sequence[Column]) -> str:
    r"""In a broken text `\\` would end a line of it, and not the row."""
    end = r"\tabularnewline" if any(each.broken for each in columns) else r"\\"
    return f"{' & '.join(cells)} {end}"
