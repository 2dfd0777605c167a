"""The standard streams: all of them open, able to hold any text, and safe to lose."""

from __future__ import annotations

import codecs
import contextlib
import io
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unicodedata import normalize

from dunnage.errors import ResultError


def open_streams() -> None:
    """Make the standard streams such that whoever writes to one need not think of its end.

    Those that we were started without are opened: otherwise the next file to be opened would
    become one, and be written to by every program that we start. Whoever reads one may go: that is
    no reason to stop measuring. A message that cannot be written is lost, and no more than that;
    for an answer ResultError is raised, by whatever writes it.
    """
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)
    codecs.register_error(_IN_OTHER_LETTERS, _in_other_letters)
    sys.stdout = _safe(sys.stdout, _answer_lost)
    sys.stderr = _safe(sys.stderr, lambda _: None)


def flush() -> None:
    """Write what is left, as far as anybody still reads it."""
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:
            with contextlib.suppress(OSError, ResultError):
                stream.flush()


Lost = Callable[[OSError], None]
"""Is told why a stream cannot be written any more."""


class _Bytes(io.BufferedWriter):
    """The bytes of a stream. Once they cannot be written, they go nowhere."""

    def __init__(self, descriptor: int, lost: Lost) -> None:
        super().__init__(io.FileIO(descriptor, "wb", closefd=False))
        self._lost = lost

    def write(self, data: Any) -> int:
        try:
            return super().write(data)
        except OSError as error:
            self._go_nowhere(error)
            return len(data)

    def flush(self) -> None:
        try:
            super().flush()
        except OSError as error:
            self._go_nowhere(error)

    def _go_nowhere(self, error: OSError) -> None:
        with contextlib.suppress(OSError, ValueError), Path(os.devnull).open("wb") as nowhere:
            os.dup2(nowhere.fileno(), self.fileno())
        self._lost(error)


def _safe(stream: Any, lost: Lost) -> Any:
    """The same stream, losable; a stream that is none of the system's stays what it is."""
    if type(stream) is io.TextIOWrapper:
        with contextlib.suppress(OSError):
            stream.flush()
        return io.TextIOWrapper(
            _Bytes(stream.fileno(), lost),
            encoding=stream.encoding,
            errors=_IN_OTHER_LETTERS,
            line_buffering=stream.line_buffering,
            write_through=stream.write_through,
        )
    if isinstance(stream, io.TextIOWrapper):
        stream.reconfigure(errors=_IN_OTHER_LETTERS)
    return stream


def _answer_lost(error: OSError) -> None:
    if not isinstance(error, BrokenPipeError):
        raise ResultError(
            f"the answer cannot be written: {error.strerror}",
            where="standard output",
            hint="free some space, or write the answer to another place",
        ) from error


_IN_OTHER_LETTERS = "dunnage"
"""How a stream writes what its encoding does not have."""
_OTHER_LETTERS = {
    "−": "-",
    "–": "-",
    "—": "-",
    "‑": "-",
    "…": "...",
    "·": "-",
    "•": "*",
    "×": "x",
    "■": "#",
    "▪": "+",
    "≈": "=",
    "▲": "^",
    "▼": "v",
    "±": "+-",
    "µ": "u",
    "→": "->",
    "≥": ">=",
    "≤": "<=",
    "“": '"',
    "”": '"',
    "’": "'",
}
_OURS = "…•"
"""Letters that we write into what we quote."""


def _in_other_letters(error: UnicodeError) -> tuple[str, int]:
    """Write something like it in ASCII: less beautiful, and as true."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    letters = error.object[error.start : error.end]
    before = error.object[error.object.rfind("\n", 0, error.start) + 1 : error.start]
    quoted = before.count("`") % 2
    return "".join(map(_escaped if quoted else _in_ascii, letters)), error.end


def _escaped(letter: str) -> str:
    """What stands for a letter that is quoted: like another one, it could be what is allowed."""
    ours = letter in _OURS
    return _OTHER_LETTERS[letter] if ours else letter.encode("ascii", "backslashreplace").decode()


def _in_ascii(letter: str) -> str:
    """What stands for a letter: `Š` is `S`."""
    known = _OTHER_LETTERS.get(letter)
    bare = normalize("NFKD", letter).encode("ascii", "ignore").decode()
    return known or bare or "?"
