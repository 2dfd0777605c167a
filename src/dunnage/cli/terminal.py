"""Standard output holds data; everything else goes to standard error."""

from __future__ import annotations

import json
import shlex
import sys
from enum import StrEnum
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.text import Text

from dunnage.errors import DunnageError, StudyError
from dunnage.report.words import plain

out = Console(soft_wrap=False, highlight=False)
"""For data: tables, paths, JSON."""

err = Console(stderr=True, highlight=False)
"""For everything else."""


class Format(StrEnum):
    """How an answer is written."""

    TEXT = "text"
    JSON = "json"


FormatOption = Annotated[
    Format, typer.Option("--format", help="`json` where a program reads the answer.")
]


def show_json(value: Any) -> None:
    """Write one JSON document to standard output."""
    sys.stdout.write(json.dumps(value, indent=2, ensure_ascii=False) + "\n")


def show_error(error: DunnageError) -> None:
    """Say what happened, where, and the next command to type."""
    say(("dunnage:", "bold red"), f" {error}")
    if isinstance(error, StudyError):
        for problem in error.problems:
            place = f"line {problem.line}: " if problem.line else ""
            say(f"  {place}{problem.what}")
            if problem.hint:
                say((f"    {problem.hint}", "dim"))
    for note in getattr(error, "__notes__", ()):
        say(f"  {note}")
    if error.hint:
        say("  try: ", (error.hint, "bold"))


def say(*parts: str | tuple[str, str]) -> None:
    """Write a line to standard error, as it is: nothing in it is markup or steers the terminal.

    A part is a text, or a text with its style.
    """
    pairs = [(part, "") if isinstance(part, str) else part for part in parts]
    err.print(Text.assemble(*((plain(text), style) for text, style in pairs)), soft_wrap=True)


def show_line(text: str) -> None:
    """Write a line of data to standard output, as it is and unbroken."""
    out.print(Text(plain(text)), soft_wrap=True)


def typed(*words: object) -> str:
    """Write a command as it can be typed into a shell, whatever its words hold."""
    return shlex.join(["dunnage", *map(str, words)])
