"""A table as plain LaTeX: a `tabular` that needs no package, with every text escaped."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from dunnage.report.tables.column import Cell, words
from dunnage.report.tables.table import Table
from dunnage.wording.terms import plain

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
    """A `tabular` with rules above, below the head, and below; numbers to the right."""
    alignment = "".join("r" if right else "l" for right in table.numeric)
    head = " & ".join(map(escaped, table.heads))
    lines = [
        f"% {plain(table.title).splitlines()[0]}",
        rf"\begin{{tabular}}{{{alignment}}}",
        r"\hline",
        rf"{head} \\",
        r"\hline",
        *(rf"{' & '.join(map(_cell, row))} \\" for row in table.shown),
        r"\hline",
        r"\end{tabular}",
    ]
    return "\n".join(lines) + "\n"


def _cell(cell: Cell) -> str:
    if isinstance(cell, int | float) and not isinstance(cell, bool):
        return _number(words(cell))
    return escaped(words(cell))


def _number(written: str) -> str:
    """A number in mathematics, so that its minus is one: `$-1.2$`, `$3\\times10^{-6}$`."""
    mantissa, _, exponent = written.partition("e")
    return rf"${mantissa}\times10^{{{int(exponent)}}}$" if exponent else f"${mantissa}$"
