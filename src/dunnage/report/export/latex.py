"""A table as plain LaTeX: a `tabular` that needs no package, with every text escaped."""

from __future__ import annotations

import re
from collections.abc import Mapping

from dunnage.report.export.sheet import Cell, Sheet, text
from dunnage.wording.terms import plain

_SPECIAL: Mapping[str, str] = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "%": r"\%",
    "_": r"\_",
    "^": r"\textasciicircum{}",
    "~": r"\textasciitilde{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\char34{}",
    "'": r"{}'{}",
    "`": r"{}`{}",
    "-": "-{}",
    "[": "{[}",
    "]": "{]}",
    "*": "{*}",
    "\n": " ",
    "\t": " ",
    "\ufffd": "?",
    "\u2212": "$-$",
    "±": r"$\pm$",
    "×": r"$\times$",
    "÷": r"$\div$",
    "µ": r"$\mu$",
    "μ": r"$\mu$",
    "σ": r"$\sigma$",
    "κ": r"$\kappa$",
    "λ": r"$\lambda$",
    "→": r"$\rightarrow$",
    "≈": r"$\approx$",
    "≥": r"$\geq$",
    "≤": r"$\leq$",
    "∞": r"$\infty$",
    "√": r"$\surd$",
    "²": "$^{2}$",
    "³": "$^{3}$",
    "…": r"\ldots{}",
    "–": "--",
    "—": "---",
    "•": r"\textbullet{}",
    "·": r"$\cdot$",
    "’": "{}'{}",
}
"""What a character is written as. Brackets and stars stand in braces, because at the beginning of a
row `\\\\` would take them for its own arguments; hyphens and quotes have empty groups beside them,
because two of them would become a dash or another quote."""
_PART = re.compile("|".join([*map(re.escape, _SPECIAL), r"[^\x00-\u017f]"]))


def escaped(words: str) -> str:
    """Any text as LaTeX sets it literally; what its fonts may lack becomes a question mark.

    Latin letters outside ASCII stay, as UTF-8, LaTeX's encoding since 2018.
    """
    return _PART.sub(lambda match: _SPECIAL.get(match[0], "?"), plain(words))


def table(sheet: Sheet) -> str:
    """A `tabular` with rules above, below the head, and below; numbers to the right."""
    numeric = [sheet.numeric(column) for column in range(len(sheet.columns))]
    alignment = "".join("r" if right else "l" for right in numeric)
    head = " & ".join(escaped(column) for column in sheet.columns)
    lines = [
        f"% {plain(sheet.title).splitlines()[0]}",
        rf"\begin{{tabular}}{{{alignment}}}",
        r"\hline",
        rf"{head} \\",
        r"\hline",
        *(rf"{' & '.join(_cell(cell) for cell in row)} \\" for row in sheet.rows),
        r"\hline",
        r"\end{tabular}",
    ]
    return "\n".join(lines) + "\n"


def _cell(cell: Cell) -> str:
    if isinstance(cell, int | float) and not isinstance(cell, bool):
        return _number(text(cell))
    return escaped(text(cell))


def _number(written: str) -> str:
    """A number in mathematics, so that its minus is one: `$-1.2$`, `$3\\times10^{-6}$`."""
    mantissa, _, exponent = written.partition("e")
    return rf"${mantissa}\times10^{{{int(exponent)}}}$" if exponent else f"${mantissa}$"
