"""A table as plain LaTeX: `tabular`s that need no package and fit a paper, every text escaped."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from dunnage.report.tables.column import Cell, words
from dunnage.report.tables.table import Table
from dunnage.wording.terms import plain

MOST_COLUMNS = 6
"""Of one `tabular`."""
_MOST_KEYS = 3
_LONG = 40
"""Characters of a text that stands on one line."""
_NAMED = r"\backslash ^asciicircum ~asciitilde <less >greater |bar •bullet"
_MATHEMATICS = (
    "\u2212- "
    r"±\pm ×\times ÷\div µ\mu μ\mu σ\sigma κ\kappa λ\lambda →\rightarrow ≈\approx"
    r" ≥\geq ≤\leq ∞\infty √\surd ²^{2} ³^{3} ·\cdot"
)
_SPECIAL: Mapping[str, str] = {
    **{character: rf"\{character}" for character in "{}$&#%_"},
    **{character: f"{{{character}}}" for character in "[]*"},
    **{word[0]: rf"\text{word[1:]}{{}}" for word in _NAMED.split()},
    **{word[0]: f"${word[1:]}$" for word in _MATHEMATICS.split()},
    **dict.fromkeys("'’", "{}'{}"),
    **dict.fromkeys("\n\t", " "),
    "`": "{}`{}",
    '"': r"\char34{}",
    "-": "-{}",
    "–": "--",
    "—": "---",
    "…": r"\ldots{}",
    "\ufffd": "?",
}
"""What a character is written as. Brackets and stars stand in braces, because at the beginning of a
row `\\\\` would take them for its own arguments; hyphens and quotes have empty groups beside them,
because two of them would become a dash or another quote."""
_PART = re.compile("|".join([*map(re.escape, _SPECIAL), r"[^\x00-\u017f]"]))


def escaped(text: str) -> str:
    """Any text as LaTeX sets it literally; what its fonts may lack becomes a question mark.

    Latin letters outside ASCII stay, as UTF-8, LaTeX's encoding since 2018.
    """
    return _PART.sub(lambda match: _SPECIAL.get(match[0], "?"), plain(text))


def document(table: Table[Any]) -> str:
    """`tabular`s with rules above, below the head, and below; numbers to the right.

    A table with more than six columns becomes several. What is the same in every row stands above
    them as a comment; the columns that tell rows apart are in each.
    """
    lines = [f"% {_comment(table.title)}"]
    places = list(range(len(table.columns)))
    if len(places) > MOST_COLUMNS and len(table.rows) > 1:
        same = [place for place in places if len(_distinct(table, [place])) == 1]
        lines += [
            f"% {_comment(table.heads[place])}: {_comment(words(table.shown[0][place]))}"
            for place in same
        ]
        places = [place for place in places if place not in same]
    for part in _parts(table, places):
        lines += _tabular(table, part)
    return "\n".join(lines) + "\n"


def _parts(table: Table[Any], places: Sequence[int]) -> Iterator[Sequence[int]]:
    """The columns of each `tabular`."""
    if len(places) <= MOST_COLUMNS:
        yield places
        return
    keys = _keys(table, places)
    others = [place for place in places if place not in keys]
    room = MOST_COLUMNS - len(keys)
    for start in range(0, len(others), room):
        yield (*keys, *others[start : start + room])


def _keys(table: Table[Any], places: Sequence[int]) -> list[int]:
    """The first columns that tell rows apart, three at most."""
    keys: list[int] = []
    for place in places:
        more = len(_distinct(table, [*keys, place])) > len(_distinct(table, keys))
        if more and len(keys) < _MOST_KEYS:
            keys.append(place)
    return keys


def _distinct(table: Table[Any], places: Sequence[int]) -> set[tuple[str, ...]]:
    return {tuple(words(row[place]) for place in places) for row in table.shown}


def _comment(text: str) -> str:
    """Text of any kind on one line, where it ends nothing."""
    return " ".join(plain(text).split())


def _tabular(table: Table[Any], places: Sequence[int]) -> Iterator[str]:
    yield rf"\begin{{tabular}}{{{''.join(_alignment(table, place) for place in places)}}}"
    yield r"\hline"
    yield rf"{' & '.join(escaped(table.heads[place]) for place in places)} \\"
    yield r"\hline"
    for row in table.shown:
        yield rf"{' & '.join(_cell(row[place]) for place in places)} \\"
    yield r"\hline"
    yield r"\end{tabular}"


def _alignment(table: Table[Any], place: int) -> str:
    """Numbers to the right, texts to the left, long ones broken into lines."""
    if table.numeric[place]:
        return "r"
    long = any(len(words(row[place])) > _LONG for row in table.shown)
    return r"p{0.4\linewidth}" if long else "l"


def _cell(cell: Cell) -> str:
    if isinstance(cell, int | float) and not isinstance(cell, bool):
        return _number(words(cell))
    return escaped(words(cell))


def _number(written: str) -> str:
    """A number in mathematics, so that its minus is one: `$-1.2$`, `$3\\times10^{-6}$`."""
    mantissa, _, exponent = written.partition("e")
    return rf"${mantissa}\times10^{{{int(exponent)}}}$" if exponent else f"${mantissa}$"
