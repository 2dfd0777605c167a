"""Standard output holds data; everything else goes to standard error."""

from __future__ import annotations

import json
import sys
from enum import StrEnum
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.markup import escape

from dunnage.errors import DunnageError, StudyError

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
    err.print(f"[bold red]dunnage:[/] {escape(str(error))}", soft_wrap=True)
    if isinstance(error, StudyError):
        for problem in error.problems:
            place = f"line {problem.line}: " if problem.line else ""
            err.print(f"  {place}{escape(problem.what)}", soft_wrap=True)
            if problem.hint:
                err.print(f"    [dim]{escape(problem.hint)}[/]", soft_wrap=True)
    for note in getattr(error, "__notes__", ()):
        err.print(f"  {escape(note)}", soft_wrap=True)
    if error.hint:
        err.print(f"  try: [bold]{escape(error.hint)}[/]", soft_wrap=True)
