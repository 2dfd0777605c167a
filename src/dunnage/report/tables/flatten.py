"""Values of the analysis as tables, whatever fields they have: nothing can be forgotten."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from itertools import zip_longest
from typing import Any

from dunnage.model.estimate import Estimate
from dunnage.model.value import Value
from dunnage.report.tables.column import Cell, joined
from dunnage.report.tables.table import Table, untyped

Row = dict[str, Cell]
Numbers = Mapping[str, Sequence[object]]


def tables(name: str, title: str, values: Sequence[Value]) -> Iterator[Table[Any]]:
    """One table of the values, and one more for each list of values that they hold, and so on.

    A list becomes a table of its own, `name-field`, each row with the texts that name its owners in
    front. Lists of numbers become one row for each place, beside the lists of their owner that are
    as long (a time line's intervals). An estimate is its value, its ends and its blocks.
    """
    yield from _tables(name, title, [(_Parts(), value) for value in values])


@dataclass
class _Parts:
    """A value taken apart: cells of its row, lists of numbers, and lists of values."""

    cells: Row = field(default_factory=dict)
    numbers: dict[str, Sequence[object]] = field(default_factory=dict)
    values: dict[str, Sequence[Value]] = field(default_factory=dict)

    @property
    def names(self) -> Row:
        return {key: cell for key, cell in self.cells.items() if isinstance(cell, str)}


def _tables(name: str, title: str, found: Sequence[tuple[_Parts, Value]]) -> Iterator[Table[Any]]:
    rows: list[Row] = []
    points: list[Row] = []
    inner: dict[str, list[tuple[_Parts, Value]]] = {}
    for owner, value in found:
        parts = _apart(value)
        rows.append(owner.names | parts.cells)
        below = _Parts(owner.names | parts.names, parts.numbers)
        for key, children in parts.values.items():
            inner.setdefault(key, []).extend((below, child) for child in children)
        if not parts.values:
            points.extend(_points(below.names, owner.numbers, parts.numbers))
    if rows:
        yield untyped(name, title, rows)
    if points:
        yield untyped(f"{name}-points", f"{title}: points", points)
    for key, values in inner.items():
        word = key.replace("_", "-").replace(".", "-")
        yield from _tables(f"{name}-{word}", f"{title}: {word}", values)


def _apart(value: Value) -> _Parts:
    parts = _Parts()
    for key in type(value).model_fields:
        _put(parts, key, getattr(value, key))
    return parts


def _put(parts: _Parts, key: str, item: object) -> None:
    if isinstance(item, Estimate):
        parts.cells[key] = item.value if item.n else None
        parts.cells |= {f"{key}.low": item.low, f"{key}.high": item.high}
        parts.cells |= {f"{key}.unit": item.unit, f"{key}.blocks": item.n}
    elif isinstance(item, Value):
        for name in type(item).model_fields:
            _put(parts, f"{key}.{name}", getattr(item, name))
    elif isinstance(item, Mapping):
        parts.cells[key] = joined([f"{name}: {_plain(each)}" for name, each in item.items()])
    elif not isinstance(item, tuple):
        parts.cells[key] = _plain(item)
    elif item and all(isinstance(each, Value) for each in item):
        parts.values[key] = item
    elif item and all(each is None or isinstance(each, int | float | tuple) for each in item):
        parts.numbers[key] = item
    else:
        parts.cells[key] = joined([_plain(each) for each in item])


def _points(names: Row, above: Numbers, own: Numbers) -> Iterator[Row]:
    """One row for each place of a value's own lists, with those of its owner that are as long."""
    length = max((len(found) for found in own.values()), default=0)
    beside = {key: found for key, found in above.items() if len(found) == length}
    lists = {**beside, **own}
    for place in zip_longest(*lists.values()):
        row = dict(names)
        for key, each in zip(lists, place, strict=True):
            if isinstance(each, tuple):
                row |= {f"{key}.{number}": _plain(part) for number, part in enumerate(each)}
            else:
                row[key] = _plain(each)
        yield row


def _plain(item: object) -> Cell:
    if isinstance(item, Enum):
        return str(item.value)
    return item if isinstance(item, str | int | float | bool) or item is None else str(item)
