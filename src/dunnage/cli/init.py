"""`dunnage init`: a study to begin with."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated

import typer

from dunnage import catalog
from dunnage.cli.shared.terminal import say, show_line, typed
from dunnage.errors import UsageError
from dunnage.study.suggest import hint
from dunnage.study.template import template

NAME = "init"
HELP = "Write a study file with comments, to start from."
EXAMPLES = "Examples:  dunnage init  ·  dunnage init my-study.yaml --database cassandra"


def command(
    path: Annotated[Path, typer.Argument(help="Where to write it.")] = Path("study.yaml"),
    database: Annotated[str | None, typer.Option(help="The database that is deployed.")] = None,
    platform: Annotated[
        list[str] | None,
        typer.Option(
            help="A platform to compare; may be repeated. Without it, all that fit the database."
        ),
    ] = None,
) -> None:
    """Write a template; never over a file that is there."""
    for noun, words, known in (
        ("database", [database] if database else [], catalog.OFFER.databases),
        ("platform", platform or [], catalog.OFFER.platforms),
    ):
        for word in words:
            if word not in known:
                raise UsageError(f"unknown {noun} `{word}`", hint=hint(word, known))
    text = template(catalog.OFFER, path.stem, database, platform or ())
    try:
        with path.open("x") as file:
            file.write(text)
    except FileExistsError as error:
        raise UsageError(
            "already exists", where=str(path), hint=typed("init", f"{path.stem}-2.yaml")
        ) from error
    except OSError as error:
        missing = not path.parent.exists()
        raise UsageError(
            f"cannot write: {error.strerror}",
            where=str(path),
            hint=shlex.join(["mkdir", "-p", str(path.parent)]) if missing else "",
        ) from error
    show_line(str(path))
    say("next: ", (typed("plan", path), "bold"))
