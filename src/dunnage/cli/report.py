"""`dunnage report`: remake the answer from a result directory, on any machine."""

from __future__ import annotations

from typing import Annotated

import typer

from dunnage.cli.shared.answer import answer
from dunnage.cli.shared.studies import ResultArgument
from dunnage.cli.shared.terminal import Format, FormatOption
from dunnage.errors import ExitCode
from dunnage.opened import open_at
from dunnage.store.newest import RESULTS

NAME = "report"
HELP = "Show the answer of a result, and write its page and tables again."
EXAMPLES = (
    "Examples:  dunnage report  ·  dunnage report results/quickstart  ·  "
    "dunnage report results/quickstart --details  ·  dunnage report results/quickstart --figures"
)


def command(
    result: ResultArgument = RESULTS,
    figures: Annotated[
        bool,
        typer.Option(
            "--figures",
            help="Also draw the figures for a paper, one column wide, as SVG, PDF and PNG.",
        ),
    ] = False,
    details: Annotated[
        bool, typer.Option("--details", help="Show the answer in full, with every number.")
    ] = False,
    format_: FormatOption = Format.TEXT,
) -> ExitCode:
    """Analyse anew; nothing is measured."""
    return answer(open_at(result), format_, details=details, figures=figures)
