"""`dunnage run`: carry out a study, or go on with one that was interrupted."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dunnage import catalog
from dunnage.cli.answer import answer
from dunnage.cli.files import RESULTS, planned, study_at
from dunnage.cli.terminal import Format, FormatOption, err, say, typed
from dunnage.errors import DunnageError, ExitCode, UsageError
from dunnage.model.plan import Plan
from dunnage.model.study import Study
from dunnage.runner.interrupt import Stop
from dunnage.runner.progress import Display
from dunnage.runner.study import carry_out
from dunnage.store.read import open_result
from dunnage.store.write import ResultWriter
from dunnage.study.estimate import estimate_seconds
from dunnage.study.read import read_study

NAME = "run"
HELP = "Carry out a study and show its answer. Ctrl-C once ends after the current run."
EXAMPLES = (
    "Examples:  dunnage run studies/fake.yaml  ·  dunnage run study.yaml --only docker-host  ·  "
    "dunnage run --resume results/quickstart"
)


def command(
    study: Annotated[Path | None, typer.Argument(help="The study file.")] = None,
    resume: Annotated[
        Path | None,
        typer.Option(help="Go on with this result: only runs without a record are carried out."),
    ] = None,
    only: Annotated[
        list[str] | None,
        typer.Option(help="Only runs whose deployment, workload or level fits; may be repeated."),
    ] = None,
    keep: Annotated[
        bool,
        typer.Option("--keep", help="Leave the testbed up afterwards; `clean --kept` removes it."),
    ] = False,
    results: Annotated[Path, typer.Option(help="Directory of results.")] = RESULTS,
    format_: FormatOption = Format.TEXT,
) -> None:
    """Plan, carry out, judge."""
    if (study is None) == (resume is None):
        raise UsageError("name either a study or `--resume` with a result", hint="dunnage run -h")
    if resume is not None:
        if only:
            raise UsageError("`--only` belongs to a new result; a resumed one has its plan")
        code = carry_on(resume, keep=keep, format_=format_)
    else:
        assert study is not None  # noqa: S101 (told apart above)
        code = begin(study, only or [], results, keep=keep, format_=format_)
    if code is not ExitCode.OK:
        raise typer.Exit(code)


def begin(path: Path, only: list[str], results: Path, *, keep: bool, format_: Format) -> ExitCode:
    """Plan a study, carry it out in a new result directory, and show its answer."""
    study, text = study_at(path)
    plan, seconds = planned(study, only)
    writer = ResultWriter.create(results, study.name, text, plan)
    return _carry_out(study, plan, writer, seconds, keep=keep, format_=format_)


def carry_on(path: Path, *, keep: bool, format_: Format) -> ExitCode:
    """Carry out what a result lacks, and show its answer."""
    result = open_result(path)
    study = read_study(result.study_text, str(result.layout.study), catalog.OFFER)
    seconds = estimate_seconds(result.plan, study)
    seconds *= 1 - len(result.finished()) / max(len(tuple(result.plan.runs())), 1)
    writer = ResultWriter(result.layout.root)
    return _carry_out(study, result.plan, writer, seconds, keep=keep, format_=format_)


def _carry_out(
    study: Study,
    plan: Plan,
    writer: ResultWriter,
    seconds: float,
    *,
    keep: bool,
    format_: Format,
) -> ExitCode:
    root = writer.layout.root
    say(f"result: {root}")
    runs = len(tuple(plan.runs()))
    try:
        with writer.held(), Stop(say) as stop:
            finished = open_result(root).finished()
            with Display(err, runs, len(finished), seconds) as display:
                outcome = carry_out(study, plan, writer, finished, display, stop, keep=keep)
    except (DunnageError, KeyboardInterrupt) as error:
        if isinstance(error, DunnageError) and not error.hint:
            error.hint = typed("run", "--resume", root)
        raise
    code = answer(open_result(root), format_)
    if outcome.missing:
        missing = f"{len(outcome.missing)} of {runs} runs are missing"
        say((missing, "yellow"), "; try: ", (typed("run", "--resume", root), "bold"))
        return ExitCode.FAILED
    return code
