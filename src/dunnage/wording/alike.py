"""Sentences that others wrote, such as errors: alike ones drawn together."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from dunnage.analysis.groups import grouped as by_key
from dunnage.errors import plain
from dunnage.wording import numbers

NAMES_SHOWN = 3
"""Hosts, members or addresses that a sentence of several runs names."""

_TOKEN = re.compile(
    r"(?<![\w-])(?:(?P<name>[A-Za-z]\w*(?:-\w+)*-\d+)|[+\u2212-]?\d+(?:[.,]\d+)*)(?!\w)"
)
"""A host or a member (`db-2`), or a figure; digits inside a word are part of the word."""


def grouped(texts: Iterable[str]) -> tuple[tuple[int, str], ...]:
    """How often, and one text for all that differ in figures and names only; the most frequent
    first."""
    alike = by_key(map(plain, texts), kind)
    found = [(len(group), merged(group)) for group in alike.values()]
    return tuple(sorted(found, key=lambda item: -item[0]))


def kind(text: str) -> str:
    """What a text says but for its figures and names: texts of one kind can be drawn together."""
    return _TOKEN.sub(lambda match: "\0" if match["name"] else "\1", text)


def some(names: Iterable[str], most: int | None = NAMES_SHOWN) -> str:
    """Names, each once; of many only some: `a, b, c and 2 more`."""
    found = sorted(set(names))
    rest = 0 if most is None else max(0, len(found) - most)
    shown = ", ".join(found[: len(found) - rest])
    return f"{shown} and {rest} more" if rest else shown


def merged(texts: Sequence[str]) -> str:
    """One text for several that differ in figures and names only: a figure becomes its range."""
    tokens = [list(_TOKEN.finditer(text)) for text in texts]
    parts, end = [], 0
    for place, match in enumerate(tokens[0]):
        parts.append(texts[0][end : match.start()])
        parts.append(_drawn_together([row[place][0] for row in tokens]))
        end = match.end()
    return "".join([*parts, texts[0][end:]])


def _drawn_together(found: Sequence[str]) -> str:
    distinct = list(dict.fromkeys(found))
    if len(distinct) == 1:
        return distinct[0]
    try:
        ranked = sorted(distinct, key=_number)
    except ValueError:
        return some(distinct)
    return f"{ranked[0]} to {ranked[-1]}"


def _number(text: str) -> float:
    return float(text.replace(",", "").replace(numbers.MINUS, "-"))
