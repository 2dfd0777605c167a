"""`dunnage run`: carry out a study, or go on with one that was interrupted."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dunnage.cli.shared import completion, studies
from dunnage.cli.shared.carrying_out import begin, carry_on, resuming
from dunnage.cli.shared.terminal import Format, FormatOption
from dunnage.errors import ExitCode, UsageError
from dunnage.store.newest import RESULTS

NAME = "run"
HELP = "Carry out a study and show its answer. Ctrl-C once ends after the current run."
EXAMPLES = (
    "Examples:  dunnage run studies/fake.yaml  ·  dunnage run study.yaml --only docker-host  ·  "
    "dunnage run study.yaml --scale 10%  ·  "
    "dunnage run study.yaml --rates-of results/study  ·  "
    "dunnage run --resume results/quickstart  ·  "
    "dunnage run --resume results/quickstart --blocks +6"
)


def command(
    study: Annotated[
        Path | None, typer.Argument(help="The study file.", autocompletion=completion.studies)
    ] = None,
    resume: Annotated[
        Path | None,
        typer.Option(
            help="Continue this result: only runs without a record are carried out.",
            autocompletion=completion.results,
        ),
    ] = None,
    only: studies.OnlyOption = None,
    scale: studies.ScaleOption = None,
    blocks: Annotated[
        str | None,
        typer.Option(
            help="Total number of blocks (`12`), in place of the study's. With `--resume` also the "
            "number to add (`+6`). Adding after an answer is a look: the next intervals are wider."
        ),
    ] = None,
    rates_of: Annotated[
        Path | None,
        typer.Option(
            help="Use the capacity of this result for rates that are shares, and do not measure it "
            "again. The two results can then be compared at the same rates."
        ),
    ] = None,
    keep: Annotated[
        bool,
        typer.Option(
            "--keep",
            help="Leave the testbed running afterwards: `dunnage lab shell` leads into it, "
            "`dunnage lab down` removes it.",
        ),
    ] = False,
    yes: Annotated[
        bool, typer.Option("--yes", help="Start a study that takes more than a day.")
    ] = False,
    results: Annotated[Path, typer.Option(help="Directory of results.")] = RESULTS,
    format_: FormatOption = Format.TEXT,
) -> ExitCode:
    """Plan, carry out, judge."""
    if (study is None) == (resume is None):
        raise UsageError("name either a study or `--resume` with a result", hint="dunnage run -h")
    if resume is not None:
        given = {"only": (only, "plan"), "scale": (scale, "study"), "rates-of": (rates_of, "rates")}
        for option, (value, kept) in given.items():
            if value:
                raise UsageError(
                    f"`--{option}` is for a new result; a resumed result keeps its {kept}",
                    hint=resuming(resume, blocks, keep=keep, format_=format_),
                )
        return carry_on(resume, blocks=blocks, keep=keep, format_=format_)
    assert study is not None  # noqa: S101 (told apart above)
    return begin(
        study,
        only or [],
        results,
        scale=scale,
        blocks=blocks,
        rates_of=rates_of,
        keep=keep,
        yes=yes,
        format_=format_,
    )
