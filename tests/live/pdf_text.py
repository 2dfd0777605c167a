"""The text of PDF files, by poppler's `pdftotext`."""

from __future__ import annotations

import re
import subprocess
import unicodedata
from dataclasses import dataclass
from pathlib import Path

_NUMBER = r'="([0-9.]+)"'
_PAGE = re.compile(f"<page width{_NUMBER} height{_NUMBER}>")
_WORD = re.compile(
    f"<word xMin{_NUMBER} yMin{_NUMBER} xMax{_NUMBER} yMax{_NUMBER}>(.*?)</word>", re.DOTALL
)


@dataclass(frozen=True)
class Word:
    """A word, and how far its corners are from those of its page, in points."""

    text: str
    left: float
    top: float
    right: float
    bottom: float

    @property
    def nearest(self) -> float:
        """How far it is from the nearest edge of the page; below zero, it is cut off."""
        return min(self.left, self.top, self.right, self.bottom)


def letters(text: str) -> str:
    """Only letters and digits, so that breaks, dashes and ligatures make no difference."""
    return re.sub(r"[\W_]+", "", unicodedata.normalize("NFKC", text)).casefold()


def letters_of(document: Path) -> str:
    """Letters and digits of all pages, in the order in which they were set."""
    return letters(_told(document, "-raw"))


def pages(document: Path) -> list[list[Word]]:
    """The words of each page."""
    found = []
    for page in _told(document, "-bbox").split("</page>")[:-1]:
        size = _PAGE.search(page)
        assert size is not None
        width, height = map(float, size.groups())
        words = []
        for *corners, text in _WORD.findall(page):
            left, top, right, bottom = map(float, corners)
            words.append(Word(text, left, top, width - right, height - bottom))
        found.append(words)
    return found


def _told(document: Path, kind: str) -> str:
    argv = ["pdftotext", kind, "-enc", "UTF-8", str(document), "-"]
    done = subprocess.run(argv, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout
