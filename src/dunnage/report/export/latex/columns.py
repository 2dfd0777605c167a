"""Which columns of a table stand beside each other in LaTeX, and how wide each of them is."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from dunnage.report.export.latex.text import lines, number_width, pieces, width
from dunnage.report.tables.column import words
from dunnage.report.tables.table import Table

LINE = 32.5
"""Ems of a line: at most those of LaTeX's `article` at 10, 11 and 12 pt."""
MOST_COLUMNS = 6
_GAP = 1.2
"""Ems between two columns: twice LaTeX's `\\tabcolsep` of 6 pt."""
_WIDEST = 10.0
"""Ems of a column of texts, unless there is room for more; longer ones are broken into lines."""
_MOST_KEYS = 3
_LONGEST_KEY = 18.0
"""Ems of a text that tells rows apart; what is longer is no name."""


@dataclass(frozen=True)
class Column:
    """One column as it is to be set."""

    place: int
    """Among the columns of the table."""
    head: tuple[str, ...]
    """Line by line."""
    numeric: bool
    longest: float
    """Ems of its longest cell on one line."""
    width: float
    """Ems that it has."""

    @property
    def broken(self) -> bool:
        """Whether its texts are broken into lines."""
        return not self.numeric and self.longest > self.width


def arranged(table: Table[Any]) -> tuple[Sequence[Column], Sequence[Sequence[Column]]]:
    """The columns that are the same in every row, and the others in groups that fit a line.

    Where all columns fit, they are one group, and nothing is taken apart. Those that tell rows
    apart are in every group.
    """
    columns = list(_measured(table))
    if _fit(columns):
        return (), (_stretched(columns),)
    same = [each for each in columns if len(table.rows) > 1 and _distinct(table, [each]) == 1]
    if len(same) == len(columns):
        same = []
    others = [each for each in columns if each not in same]
    return same, [_stretched(group) for group in _groups(table, others)]


def _measured(table: Table[Any]) -> Iterator[Column]:
    for place, (head, numeric) in enumerate(zip(table.heads, table.numeric, strict=True)):
        wide = number_width if numeric else width
        longest = max((wide(words(row[place])) for row in table.shown), default=0.0)
        parts = pieces(head, _WIDEST)
        least = max((width(part.rstrip()) for part in parts), default=0.0)
        taken = max(longest if numeric else min(longest, _WIDEST), least)
        told = tuple("".join(line).rstrip() for line in lines(parts, taken))
        yield Column(place, told, numeric, longest, taken)


def _groups(table: Table[Any], columns: Sequence[Column]) -> Iterator[Sequence[Column]]:
    if _fit(columns):
        yield columns
        return
    keys = _keys(table, columns)
    group: list[Column] = []
    for column in columns:
        if column in keys:
            continue
        if group and not _fit([*keys, *group, column]):
            yield (*keys, *group)
            group = []
        group.append(column)
    yield (*keys, *group)


def _keys(table: Table[Any], columns: Sequence[Column]) -> list[Column]:
    """The columns that tell rows apart, texts before numbers, as many as leave room for another."""
    short = [each for each in columns if each.longest <= _LONGEST_KEY]
    texts = _telling(table, [], [each for each in short if not each.numeric])
    for text in tuple(texts):
        others = [each for each in texts if each != text]
        if _distinct(table, others) == _distinct(table, texts):
            texts = others
    kept: list[Column] = []
    for key in _telling(table, texts, [each for each in short if each.numeric]):
        if len(kept) < _MOST_KEYS and _taken([*kept, key]) + _WIDEST + _GAP <= LINE:
            kept.append(key)
    return kept


def _telling(table: Table[Any], keys: Sequence[Column], columns: Sequence[Column]) -> list[Column]:
    """Keys, and those of the columns by which more rows are told apart."""
    found = list(keys)
    for column in columns:
        if _distinct(table, [*found, column]) > _distinct(table, found):
            found.append(column)
    return found


def _stretched(columns: Sequence[Column]) -> Sequence[Column]:
    """The same columns, those with broken texts as wide as there is room for."""
    room = LINE - _taken(columns)
    broken = sorted((each for each in columns if each.broken), key=lambda it: it.longest - it.width)
    wider = {}
    for place, column in enumerate(broken):
        more = min(column.longest - column.width, room / (len(broken) - place))
        wider[column.place] = column.width + more
        room -= more
    return [replace(each, width=wider.get(each.place, each.width)) for each in columns]


def _fit(columns: Sequence[Column]) -> bool:
    return len(columns) <= MOST_COLUMNS and _taken(columns) <= LINE


def _taken(columns: Sequence[Column]) -> float:
    return sum(each.width + _GAP for each in columns)


def _distinct(table: Table[Any], columns: Sequence[Column]) -> int:
    """How many rows differ in these columns."""
    return len({tuple(words(row[each.place]) for each in columns) for row in table.shown})
