"""`dunnage clean`: remove what no living owner holds."""

from __future__ import annotations

from typing import Annotated

import typer

from dunnage import catalog
from dunnage.cli.shared.terminal import Format, FormatOption, say, show_json, show_line

NAME = "clean"
HELP = "Remove control groups and directories that a killed study left. What is in use stays."
EXAMPLES = "Examples:  dunnage clean  ·  dunnage clean --kept  ·  dunnage clean --format json"


def command(
    kept: Annotated[
        bool,
        typer.Option("--kept", help="Also end and remove labs that `run --keep` left running."),
    ] = False,
    format_: FormatOption = Format.TEXT,
) -> None:
    """Remove leftovers and say which."""
    removed = catalog.clean(kept=kept)
    if format_ is Format.JSON:
        show_json({"removed": list(removed)})
        return
    for name in removed:
        show_line(name)
    say(f"{len(removed)} removed" if removed else "nothing to remove")
