"""Any text as LaTeX sets it literally, how wide it becomes, and where it may be broken.

Widths are in ems of Computer Modern, LaTeX's own type (`cmr10.tfm`), rounded up to a few sizes.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping

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
    **dict.fromkeys("\n\t\u00a0", " "),
    "`": "{}`{}",
    '"': r"\char34{}",
    "-": "-{}",
    "–": "--",
    "—": "---",
    "…": r"\ldots{}",
}
"""What a character is written as. Brackets and stars stand in braces, because at the beginning of a
row `\\\\` would take them for its own arguments; hyphens and quotes have empty groups beside them,
because two of them would become a dash or another quote."""
_PART = re.compile("|".join([*map(re.escape, _SPECIAL), r"[^\x00-\x7f]"]))
_ACCENTS = "\u0300\u0301\u0302\u0303\u0304\u0306\u0307\u0308\u030a\u030b\u030c\u0327"
"""Those that LaTeX's first encoding, OT1, puts on any letter."""
_LAST_ACCENTED = "\u017f"
"""LaTeX reads no letter with an accent beyond it, such as `Ǹ`, in that encoding."""

_NARROW, _USUAL, _BROAD, _BROADEST = 0.45, 0.56, 0.84, 1.34
_WIDTHS: Mapping[str, float] = {
    **dict.fromkeys(" fijlrstI.,:;!'`()[]|-", _NARROW),
    **dict.fromkeys('abcdeghknopquvxyz0123456789?/*$_\\^~{}"', _USUAL),
    **dict.fromkeys("mwABCDEFGHJKLNOPQRSTUVXYZ#%&+<=>@", _BROAD),
}
_DIGIT, _MINUS, _TIMES_TEN = 0.5, 0.3, 2.3
"""Ems of a digit, of what a minus has more than one, and of `×10`."""

_BREAK = re.compile(r"(?<=\s)|(?<=\w[-/._:;,=@])(?=[^\W\d])")
"""Where a text may be broken: after a space, and between the parts of a name or path."""


def escaped(text: str) -> str:
    """Any text as LaTeX sets it literally; what its fonts may lack becomes a question mark.

    Latin letters with an accent stay, as UTF-8, LaTeX's encoding since 2018.
    """
    return _PART.sub(lambda match: _SPECIAL.get(match[0]) or _letter(match[0]), plain(text))


def width(text: str) -> float:
    """Ems that a text takes at most on one line."""
    return sum(_WIDTHS.get(character, _BROADEST) for character in text)


def number(written: str) -> str:
    """A number in mathematics, so that its minus is one: `$-1.2$`, `$3\\times10^{-6}$`."""
    mantissa, _, exponent = written.partition("e")
    return rf"${mantissa}\times10^{{{int(exponent)}}}$" if exponent else f"${mantissa}$"


def number_width(written: str) -> float:
    """Ems that a number takes at most."""
    mantissa, _, exponent = written.partition("e")
    digits = len(mantissa) * _DIGIT + mantissa.startswith("-") * _MINUS
    return digits + (_TIMES_TEN + len(exponent) * _DIGIT if exponent else 0.0)


def pieces(text: str, most: float) -> list[str]:
    """A text in parts between which a line may end, none of them wider than `most` ems."""
    found = []
    for part in _BREAK.split(" ".join(plain(text).split())):
        rest = part
        while rest:
            end = _fitting(rest, most)
            found.append(rest[:end])
            rest = rest[end:]
    return found


def lines(parts: Iterable[str], most: float) -> list[list[str]]:
    """Lines of such parts, each as full as `most` ems allow; one line where there is no part.

    TeX needs no more: parts are not as wide as they are taken for, and no break costs it more than
    a line does.
    """
    found: list[list[str]] = [[]]
    for part in parts:
        if found[-1] and width("".join([*found[-1], part]).rstrip()) > most:
            found.append([])
        found[-1].append(part)
    return found


def _fitting(text: str, most: float) -> int:
    """How many characters fit into `most` ems, one at least."""
    for place, character in enumerate(text):
        most -= width(character)
        if most < 0 and place:
            return place
    return len(text)


def _letter(character: str) -> str:
    base, *marks = list(unicodedata.normalize("NFD", character))
    accented = base.isascii() and base.isalpha() and len(marks) == 1 and marks[0] in _ACCENTS
    accented = accented and character <= _LAST_ACCENTED
    return character if character in "ÆØßæøıŁłŒœ" or accented else "?"
