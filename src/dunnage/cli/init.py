"""`dunnage init`: a study to begin with."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dunnage.cli.terminal import say, show_line, typed
from dunnage.errors import UsageError
from dunnage.study.template import template

NAME = "init"
HELP = "Write a study file with comments, to start from."
EXAMPLES = "Examples:  dunnage init  ·  dunnage init my-study.yaml"


def command(
    path: Annotated[Path, typer.Argument(help="Where to write it.")] = Path("study.yaml"),
) -> None:
    """Write a template; never over a file that is there."""
    try:
        with path.open("x") as file:
            file.write(template(path.stem))
    except FileExistsError as error:
        raise UsageError(
            "already exists", where=str(path), hint=typed("init", f"{path.stem}-2.yaml")
        ) from error
    except OSError as error:
        raise UsageError(f"cannot write: {error.strerror}", where=str(path)) from error
    show_line(str(path))
    say("next: ", (typed("plan", path), "bold"))
