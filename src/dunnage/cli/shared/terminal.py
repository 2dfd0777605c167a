"""Standard output holds data; everything else goes to standard error."""

from __future__ import annotations

import json
import os
import re
import shlex
from dataclasses import asdict
from enum import StrEnum
from pathlib import Path
from textwrap import wrap
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.text import Text

from dunnage.errors import DunnageError, StudyError, plain
from dunnage.secrets.files import masked_data
from dunnage.secrets.texts import masked

MOST_PROBLEMS = 50
"""Problems of a study that are shown: more of them are one problem of another kind."""

_STEERING = re.compile(r"[\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
"""What JSON may hold as it is, and a terminal obeys."""
_COMMAND = re.compile(r"(?:^|[\s`])dunnage [a-z-]")
"""A command of ours within a message; `dunnage:` begins an error."""
_SIZE = re.compile("[1-9][0-9]{0,3}")
"""Columns or lines that a terminal may have."""


class _Data(Console):
    """Standard output."""

    used = False
    """Whether something was written."""

    def print(self, *objects: Any, **options: Any) -> None:
        """Write, as far as the width of a line allows."""
        self.used = True
        super().print(*objects, **options)

    def write(self, text: str) -> None:
        """Write text as it is."""
        self.used = True
        self.file.write(text)
        self.file.flush()


class _Messages(Console):
    """Standard error."""

    commands = False
    """Whether a command of ours was told, for somebody to type."""


def _forget_odd_sizes() -> None:
    """Some shells say 0 where they do not know a size; rich would believe that, and worse."""
    for name in ("COLUMNS", "LINES"):
        if not _SIZE.fullmatch(os.environ.get(name, "")):
            os.environ.pop(name, None)


_forget_odd_sizes()

out = _Data(soft_wrap=False, highlight=False)
"""For data: tables, paths, JSON."""

err = _Messages(stderr=True, highlight=False)
"""For everything else."""


class Format(StrEnum):
    """How an answer is written."""

    TEXT = "text"
    JSON = "json"


FormatOption = Annotated[
    Format, typer.Option("--format", help="`json` where a program reads the answer.")
]


def formatted(chosen: Format) -> list[str]:
    """The option as it was typed, for a command that is to do the same."""
    return [] if chosen is Format.TEXT else ["--format", chosen.value]


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
    # Each by itself: a place, such as `db.passwd`, is not the key of a secret that comes next.
    place = f" {error.where}: " if error.where else " "
    say(("dunnage:", "bold red"), place, error.what)
    if isinstance(error, StudyError):
        for problem in error.problems[:MOST_PROBLEMS]:
            place = f"line {problem.line}: " if problem.line else ""
            say_wrapped(f"{place}{problem.what}", indent=2)
            if problem.hint:
                for line in masked(problem.hint).splitlines():  # often a command, so unbroken
                    say((f"    {line}", "dim"))
        if len(error.problems) > MOST_PROBLEMS:
            say(f"  and {len(error.problems) - MOST_PROBLEMS} more")
    for note in getattr(error, "__notes__", ()):
        say_wrapped(note, indent=2)
    if error.hint:
        say("  try: ", (error.hint, "bold"))


def say(*parts: str | tuple[str, str]) -> None:
    """Write a line to standard error, as it is but for secrets: nothing in it is markup or steers
    the terminal.

    A part is a text, or a text with its style.
    """
    pairs = [(part, "") if isinstance(part, str) else part for part in parts]
    err.commands |= any(_COMMAND.search(text) for text, _ in pairs)
    err.print(
        Text.assemble(*((plain(masked(text)), style) for text, style in pairs)), soft_wrap=True
    )


def say_wrapped(text: str, style: str = "", *, indent: int = 0) -> None:
    """Write a sentence to standard error, in a terminal with its further lines below it.

    No word is broken, so a path stays whole, nor a line with a command of ours: it is to be typed.
    Elsewhere a line stays one, as programs read it.
    """
    for line in masked(text).splitlines():
        told = _COMMAND.search(line) is not None
        narrow = err.is_terminal and not told and indent + len(line) > err.width
        room = max(1, err.width - indent - 2)
        pieces = [line]
        if narrow:
            pieces = wrap(line, room, break_long_words=False, break_on_hyphens=False)
        for number, piece in enumerate(pieces):
            say((f"{' ' * (indent + (2 if number else 0))}{piece}", style))


def show_line(text: str) -> None:
    """Write a line of data to standard output, unbroken and as it is but for secrets."""
    out.print(Text(plain(masked(text))), soft_wrap=True)


def typed(*words: object) -> str:
    """Write a command of ours as it can be typed into a shell, whatever its words hold."""
    return shell_line("dunnage", *words)


def shell_line(*words: object) -> str:
    """Write any command as it can be typed into a shell, whatever its words hold."""
    return shlex.join(map(_word, words))


def _word(word: object) -> str:
    """One word of a command: a path that begins like an option must not be taken for one."""
    dashed = isinstance(word, Path) and str(word).startswith("-")
    return f"./{word}" if dashed else str(word)
