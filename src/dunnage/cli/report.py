"""`dunnage report`: remake the answer from a result directory, on any machine."""

from __future__ import annotations

from typing import Annotated

import typer

from dunnage.cli.answer import answer
from dunnage.cli.files import RESULTS, ResultArgument
from dunnage.cli.terminal import DetailsOption, Format, FormatOption
from dunnage.errors import ExitCode
from dunnage.store.read import open_result

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
    details: DetailsOption = False,
    format_: FormatOption = Format.TEXT,
) -> None:
    """Analyse anew; nothing is measured."""
    code = answer(open_result(result), format_, details=details, figures=figures)
    if code is not ExitCode.OK:
        raise typer.Exit(code)
