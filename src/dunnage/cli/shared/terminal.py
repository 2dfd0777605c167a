"""Standard output holds data; everything else goes to standard error."""

from __future__ import annotations

import codecs
import contextlib
import io
import json
import os
import re
import shlex
import sys
from collections.abc import Iterator
from dataclasses import asdict
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any
from unicodedata import normalize

import typer
from rich.console import Console
from rich.text import Text

from dunnage.errors import DunnageError, ResultError, StudyError, plain
from dunnage.secrets.files import masked_data
from dunnage.secrets.texts import masked

MOST_PROBLEMS = 50
"""Problems of a study that are shown: more of them are one problem of another kind."""

_STEERING = re.compile(r"[\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
"""What JSON may hold as it is, and a terminal obeys."""


class _Stream(Console):
    """A standard stream. Whoever read it may go: that is no reason to stop measuring."""

    def on_broken_pipe(self) -> None:
        """Let everything from now on go nowhere."""
        with contextlib.suppress(OSError, ValueError), Path(os.devnull).open("wb") as nowhere:
            os.dup2(nowhere.fileno(), self.file.fileno())


class _Data(_Stream):
    """Standard output: an answer that cannot be written is an error."""

    used = False
    """Whether something was written."""

    def print(self, *objects: Any, **options: Any) -> None:
        """Write; raises ResultError when it cannot be."""
        self.used = True
        with _told():
            super().print(*objects, **options)

    def write(self, text: str) -> None:
        """Write text as it is; raises ResultError when it cannot be."""
        self.used = True
        with _told():
            try:
                self.file.write(text)
                self.file.flush()
            except BrokenPipeError:
                self.on_broken_pipe()


class _Messages(_Stream):
    """Standard error: a message that cannot be written is lost, and no more than that."""

    def print(self, *objects: Any, **options: Any) -> None:
        """Write if that is possible."""
        try:
            super().print(*objects, **options)
        except OSError:
            self.on_broken_pipe()


@contextlib.contextmanager
def _told() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise ResultError(
            f"the answer cannot be written: {error.strerror}", where="standard output"
        ) from error


if os.environ.get("COLUMNS", "").strip() == "0":
    del os.environ["COLUMNS"]  # some shells say so where they do not know the width

out = _Data(soft_wrap=False, highlight=False)
"""For data: tables, paths, JSON."""

err = _Messages(stderr=True, highlight=False)
"""For everything else."""


def open_streams() -> None:
    """Open the standard streams that we were started without, and let all take any text.

    Otherwise the next file to be opened would become one, and be written to by every program that
    we start.
    """
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)
    codecs.register_error(_IN_OTHER_LETTERS, _in_other_letters)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors=_IN_OTHER_LETTERS)


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


def _in_other_letters(error: UnicodeError) -> tuple[str, int]:
    """Write something like it in ASCII: less beautiful, and as true."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    letters = error.object[error.start : error.end]
    return "".join(map(_in_ascii, letters)), error.end


def _in_ascii(letter: str) -> str:
    """What stands for a letter: `Š` is `S`."""
    known = _OTHER_LETTERS.get(letter)
    bare = normalize("NFKD", letter).encode("ascii", "ignore").decode()
    return known or bare or "?"


def flush() -> None:
    """Write what is left, as far as anybody still reads it."""
    for stream, console in ((sys.stdout, out), (sys.stderr, err)):
        try:
            if stream is not None:
                stream.flush()
        except OSError:
            console.on_broken_pipe()


class Format(StrEnum):
    """How an answer is written."""

    TEXT = "text"
    JSON = "json"


FormatOption = Annotated[
    Format, typer.Option("--format", help="`json` where a program reads the answer.")
]


def show_json(value: Any) -> None:
    """Write one JSON document to standard output, with no secret and nothing in it that steers a
    terminal."""
    ascii_only = not (out.encoding or "").lower().startswith("utf")
    text = json.dumps(masked_data(value), indent=2, ensure_ascii=ascii_only)
    out.write(_STEERING.sub(lambda match: f"\\u{ord(match[0]):04x}", text) + "\n")


def show_error_json(error: DunnageError) -> None:
    """The same as one JSON document, where an answer would have been."""
    problems = error.problems if isinstance(error, StudyError) else ()
    show_json(
        {
            "error": {
                "what": error.what,
                "where": error.where,
                "hint": error.hint,
                "exit_code": int(error.exit_code),
                "problems": [asdict(problem) for problem in problems],
            }
        }
    )


def show_error(error: DunnageError) -> None:
    """Say what happened, where, and the next command to type."""
    say(("dunnage:", "bold red"), f" {error}")
    if isinstance(error, StudyError):
        for problem in error.problems[:MOST_PROBLEMS]:
            place = f"line {problem.line}: " if problem.line else ""
            say(f"  {place}{problem.what}")
            if problem.hint:
                say((f"    {problem.hint}", "dim"))
        if len(error.problems) > MOST_PROBLEMS:
            say(f"  and {len(error.problems) - MOST_PROBLEMS} more")
    for note in getattr(error, "__notes__", ()):
        say(f"  {note}")
    if error.hint:
        say("  try: ", (error.hint, "bold"))


def say(*parts: str | tuple[str, str]) -> None:
    """Write a line to standard error, as it is but for secrets: nothing in it is markup or steers
    the terminal.

    A part is a text, or a text with its style.
    """
    pairs = [(part, "") if isinstance(part, str) else part for part in parts]
    err.print(
        Text.assemble(*((plain(masked(text)), style) for text, style in pairs)), soft_wrap=True
    )


def show_line(text: str) -> None:
    """Write a line of data to standard output, unbroken and as it is but for secrets."""
    out.print(Text(plain(masked(text))), soft_wrap=True)


def typed(*words: object) -> str:
    """Write a command as it can be typed into a shell, whatever its words hold."""
    return shlex.join(["dunnage", *map(str, words)])
