"""`dunnage run`: carry out a study, or go on with one that was interrupted."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated

import typer

from dunnage import catalog
from dunnage.cli.shared import blocks as further
from dunnage.cli.shared import completion, studies
from dunnage.cli.shared.answer import answer
from dunnage.cli.shared.rates import taken
from dunnage.cli.shared.terminal import Format, FormatOption, err, say, typed
from dunnage.errors import DunnageError, ExitCode, InterruptedRunError, ResultError, UsageError
from dunnage.model.plan import Plan
from dunnage.model.study import Study
from dunnage.opened import OpenedResult
from dunnage.runner import spare
from dunnage.runner.interrupt import Stop
from dunnage.runner.progress import Display
from dunnage.runner.study import carry_out
from dunnage.store.read import RESULTS, Result, open_result, there
from dunnage.store.secret_keys import masked_study
from dunnage.store.secrets import MASK
from dunnage.store.write import ResultWriter
from dunnage.study.expected_time import calibration_seconds
from dunnage.study.matrix import named
from dunnage.study.read import read_study
from dunnage.units import duration
from dunnage.wording import damage

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
            help="Leave the testbed running afterwards; `dunnage clean --kept` removes it.",
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
                    f"`--{option}` is for a new result; a resumed result keeps its {kept}"
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


def begin(
    path: Path,
    only: list[str],
    results: Path,
    *,
    scale: str | None = None,
    blocks: str | None = None,
    rates_of: Path | None = None,
    keep: bool,
    yes: bool = False,
    format_: Format,
) -> ExitCode:
    """Plan a study, carry it out in a new result directory, and show its answer."""
    study, text = studies.study_at(path, scale)
    if blocks is not None:
        study = study.model_copy(update={"blocks": further.total(blocks)})
    plan, seconds = studies.planned(study, only)
    if seconds > studies.A_DAY and not yes:
        raise UsageError(
            f"this study takes about {duration(seconds)}",
            where=str(path),
            hint=typed("run", path, *studies.given(only, scale, blocks), "--yes"),
        )
    capacity = taken(rates_of, plan) if rates_of is not None else None
    writer = ResultWriter.create(results, study.name, text, plan)
    if capacity is not None:
        writer.calibration(capacity)
        writer.journal("calibration taken", source=capacity.taken_from)
        seconds = max(0.0, seconds - calibration_seconds(plan, study))
    if masked_study(text) != text:
        say("the study holds a secret. The result masks it, so the result cannot be resumed")
    return _carry_out(study, plan, writer, seconds, keep=keep, format_=format_)


def carry_on(path: Path, *, blocks: str | None = None, keep: bool, format_: Format) -> ExitCode:
    """Carry out what a result lacks, after adding blocks if asked, and show its answer."""
    result = open_result(path)
    _refuse_masked(result)
    _refuse_lost(result)
    study = read_study(result.study_text, str(result.layout.study), catalog.OFFER, given=False)
    writer = ResultWriter(result.layout.root)
    if blocks is not None:
        result = further.add(study, writer, blocks)
    if len(result.finished()) == len(tuple(result.plan.runs())):
        with writer.held():
            spare.add(study, writer)
        result = open_result(writer.layout.root)
    runs, finished = len(tuple(result.plan.runs())), len(result.finished())
    if result.complete():
        say("every planned run has its record, so there is nothing to resume")
        damages = OpenedResult(result).examined.damages
        for found in {each.run: each for each in damages if each.run}.values():
            directory = shlex.quote(str(result.layout.run(found.run)))
            say(f"{damage.line(found)}; to measure it again: rm -r {directory}")
        return answer(result, format_)
    plan = named(result.plan, catalog.OFFER)
    seconds = studies.seconds_of(plan, study) * (1 - finished / runs)
    return _carry_out(study, plan, writer, seconds, keep=keep, format_=format_)


def _refuse_lost(result: Result) -> None:
    """A new journal would know nothing of what was written before."""
    if not there(result.layout.journal):
        raise ResultError(
            "the journal is missing, so this result cannot be resumed; it can still be reported",
            where=str(result.layout.journal),
            hint=typed("report", result.layout.root),
        )
    _ = result.looks  # raises where a look is lost that blocks came of


def _refuse_masked(result: Result) -> None:
    """Going on with a mask in the place of a secret would measure another server."""
    for number, line in enumerate(result.study_text.splitlines(), start=1):
        if MASK in line:
            raise ResultError(
                "a secret is masked here, so this result cannot be resumed",
                where=f"{result.layout.study}, line {number}",
                hint="dunnage run STUDY  # the study file that holds the secret: a new result",
            )


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
    except KeyboardInterrupt:
        what = "interrupted; every finished run is kept"
        raise InterruptedRunError(what, hint=typed("run", "--resume", root)) from None
    except DunnageError as error:
        error.hint = error.hint or typed("run", "--resume", root)
        raise
    result = open_result(root)
    measured = not catalog.OFFER.testbeds[study.testbed.kind].fake
    code = answer(result, format_, measured=measured)
    if outcome.missing:
        missing = f"{len(outcome.missing)} of {runs} runs are missing"
    elif not result.complete():
        missing = "some of the measurements that belong to no run are missing"
    else:
        return code
    say((missing, "yellow"), "; try: ", (typed("run", "--resume", root), "bold"))
    return ExitCode.FAILED
