"""From a study, or a result that lacks runs, to a result with its answer."""

from __future__ import annotations

import errno
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path

from dunnage import catalog
from dunnage.cli.shared import blocks as further
from dunnage.cli.shared import going_on, studies
from dunnage.cli.shared.answer import answer
from dunnage.cli.shared.kept_labs import told_of
from dunnage.cli.shared.rates import taken
from dunnage.cli.shared.terminal import Format, err, say, typed
from dunnage.errors import (
    DunnageError,
    ExitCode,
    InterruptedRunError,
    ResultError,
    UnavailableError,
    UnwrittenError,
    UsageError,
)
from dunnage.model.plan import Plan
from dunnage.model.study import Study
from dunnage.opened import OpenedResult, open_at
from dunnage.runner import hints, spare
from dunnage.runner.added import complete
from dunnage.runner.interrupt import Stop
from dunnage.runner.progress import Display
from dunnage.runner.rest import rest_of
from dunnage.runner.study import Outcome, carry_out
from dunnage.store.events import READY, STAY_FAILED
from dunnage.store.newest import around, beside
from dunnage.store.parse import there
from dunnage.store.read import Result, open_result
from dunnage.store.write import ResultWriter
from dunnage.study.expected_time import calibration_seconds
from dunnage.study.matrix import named
from dunnage.units import duration
from dunnage.wording import alike, damage

_KEPT = "every finished run is kept"


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
    typed_as: Sequence[object] = (),
) -> ExitCode:
    """Plan a study, carry it out in a new result directory, and show its answer.

    `typed_as` is what a user typed to get here, where that was not `run` and the study.
    """
    words = typed_as or ("run", path)
    options = partial(
        studies.given, only=only, scale=scale, results=results, keep=keep, format_=format_
    )

    def again(blocks: str | None = blocks, *, rates_of: Path | None = rates_of) -> str:
        return typed(*words, *options(blocks=blocks, rates_of=rates_of))

    if (inside := around(results)) is not None:
        elsewhere = options(results=beside(inside), blocks=blocks, rates_of=rates_of)
        raise UsageError(going_on.INSIDE, where=str(results), hint=typed(*words, *elsewhere))
    study, text = studies.study_at(path, scale)
    going_on.refuse_masked(text, path, "run", "STUDY")
    if blocks is not None:
        wanted = further.total(blocks, again, root=results / study.name)
        study = study.model_copy(update={"blocks": wanted})
    plan, seconds = studies.planned(study, only, path)
    if too_many := studies.without_room(study, len(plan.deployments)):
        raise UnavailableError(too_many, where=str(path), hint=typed("plan", path))
    if seconds > studies.A_DAY and not yes:
        raise UsageError(
            f"this study takes about {duration(seconds)}",
            where=str(path),
            hint=f"{again()} --yes",
        )
    capacity = None if rates_of is None else taken(rates_of, plan, again(rates_of=None))
    try:
        writer = ResultWriter.create(results, study.name, text, plan)
    except UnwrittenError as error:  # nothing is there that could be resumed
        elsewhere = options(results=Path("DIRECTORY"), blocks=blocks, rates_of=rates_of)
        error.hint = error.then(again(), typed(*words, *elsewhere))
        raise
    if capacity is not None:
        writer.calibration(capacity)
        writer.journal("calibration taken", source=capacity.taken_from)
        seconds = max(0.0, seconds - calibration_seconds(plan, study))
    onward = resuming(writer.layout.root, keep=keep, format_=format_)
    if not going_on.may_go_on(open_result(writer.layout.root)):
        say("the study holds a secret. The result masks it, so the result cannot be resumed")
        onward = again()
    with _named(path):
        with _going_on(onward), writer.held(), _unbegun_removed(writer, again()):
            outcome = _measure(study, plan, writer, seconds, keep=keep)
        return _told(study, plan, writer, outcome, onward, format_, source=path)


def carry_on(path: Path, *, blocks: str | None = None, keep: bool, format_: Format) -> ExitCode:
    """Carry out what a result lacks, after adding blocks if asked, and show its answer."""
    opened = open_at(path)
    _refuse_lost(opened.result)
    going_on.refuse_changed(opened.result)
    going_on.refuse_masked_result(opened.result)
    with _named(opened.result.layout.study):
        return _carry_on(opened, path, blocks, keep=keep, format_=format_)


def _carry_on(
    opened: OpenedResult, path: Path, blocks: str | None, *, keep: bool, format_: Format
) -> ExitCode:
    """Add, measure and answer; from the first to the last of it no other command writes there.

    What another one adds or measures meanwhile would count for this one.
    """
    study, root = opened.study, opened.result.layout.root
    writer = ResultWriter(root)
    again = partial(resuming, path, keep=keep, format_=format_)
    onward = resuming(root, keep=keep, format_=format_)
    with ExitStack() as holding:
        with _going_on(again(blocks)):
            holding.enter_context(writer.held())
            complete(open_result(root), writer)
            if blocks is not None:
                further.add(study, writer, blocks, again, onward)
        with _going_on(onward):
            result = open_result(root)
            if len(result.finished()) == len(tuple(result.plan.runs())):
                spare.add(study, writer)
                result = open_result(root)
            plan, outcome = named(result.plan, catalog.OFFER), None
            if not result.complete():
                share = len(result.finished()) / len(tuple(plan.runs()))
                seconds = studies.seconds_of(plan, study) * (1 - share)
                outcome = _measure(study, plan, writer, seconds, keep=keep)
    if outcome is not None:
        return _told(study, plan, writer, outcome, onward, format_)
    say("every planned run has its record, so there is nothing to resume")
    opened = OpenedResult(result)
    for line in damage.some_lines([each for each in opened.examined.damages if each.run]):
        say(line)
    return answer(opened, format_)


def resuming(path: Path, blocks: str | None = None, *, keep: bool, format_: Format) -> str:
    """The command that goes on with a result."""
    options = studies.given(blocks=blocks, keep=keep, format_=format_)
    return typed("run", "--resume", path, *options)


@contextmanager
def _named(study: Path) -> Iterator[None]:
    """Name the study in every hint; whoever raises an error while it runs knows no file."""
    try:
        yield
    except DunnageError as error:
        error.hint = hints.named(error.hint, study)
        raise


def _refuse_lost(result: Result) -> None:
    """A new journal would know nothing of what was written before."""
    if not there(result.layout.journal):
        raise ResultError(
            "the journal is missing, so this result cannot be resumed; it can still be reported",
            where=str(result.layout.journal),
            hint=typed("report", result.layout.root),
        )
    _ = result.looks  # raises where a look is lost that blocks came of


@contextmanager
def _unbegun_removed(writer: ResultWriter, again: str) -> Iterator[None]:
    """Remove a result whose study ends before any stay began: it would be the newest, and say
    nothing. Where a file cannot be written it stays, to be gone on with."""
    try:
        yield
    except UnwrittenError:
        raise
    except (KeyboardInterrupt, DunnageError) as error:
        if not writer.remove_unbegun():
            raise
        say("nothing was measured, so this result is removed")
        if isinstance(error, KeyboardInterrupt | InterruptedRunError):
            raise InterruptedRunError("interrupted before any stay began", hint=again) from None
        error.hint = error.hint or again
        raise


@contextmanager
def _going_on(command: str) -> Iterator[None]:
    """Name the command that goes on in all that ends a study."""
    try:
        yield
    except KeyboardInterrupt:
        what = f"interrupted; {_KEPT}"
        raise InterruptedRunError(what, hint=command) from None
    except UnwrittenError as error:
        error.add_note(_KEPT)
        error.hint = error.then(command)
        raise
    except DunnageError as error:
        error.hint = error.hint or command
        raise
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT):
            raise
        unwritten = UnwrittenError(error, str(error.filename or ""))  # a failed write names no file
        unwritten.add_note(_KEPT)
        unwritten.hint = unwritten.then(command)
        raise unwritten from error


def _measure(
    study: Study, plan: Plan, writer: ResultWriter, seconds: float, *, keep: bool
) -> Outcome:
    """Carry out what is missing, while nobody else writes there."""
    say(f"result: {writer.layout.root}")
    writer.make_directories()
    runs, finished = len(tuple(plan.runs())), open_result(writer.layout.root).finished()
    with (
        told_of(keep=keep, fake=_fake(study)),
        Stop(say, rest_of(study)) as stop,
        Display(err, runs, len(finished), seconds) as display,
    ):
        return carry_out(study, plan, writer, finished, display, stop, keep=keep)


def _fake(study: Study) -> bool:
    return catalog.OFFER.testbeds[study.testbed.kind].fake


def _real_here(study: Study) -> bool:
    """Whether it says something of this machine."""
    hosts = catalog.OFFER.testbeds[study.testbed.kind]
    return hosts.here and not hosts.fake


def _told(
    study: Study,
    plan: Plan,
    writer: ResultWriter,
    outcome: Outcome,
    onward: str,
    format_: Format,
    *,
    source: Path | None = None,
) -> ExitCode:
    """Show the answer, and say what is missing; `onward` is the command for that."""
    root, runs = writer.layout.root, len(tuple(plan.runs()))
    opened = OpenedResult(open_result(root))
    try:
        code = answer(opened, format_, measured=_real_here(study), source=source)
    except KeyboardInterrupt:
        what = "interrupted; every run is kept, and its answer can be shown again"
        raise InterruptedRunError(what, hint=typed("report", root)) from None
    if outcome.missing:
        missing = f"{len(outcome.missing)} of {runs} runs are missing"
    elif not opened.result.complete():
        missing = "some of the measurements that belong to no run are missing"
    else:
        return code
    if source is not None and _never_ready(opened.result):
        say((f"{missing}: no deployment became ready, always for the same reason", "yellow"))
        anew = typed("run", source)
        say("mend the study, then start a new result: ", (anew, "bold"))
        say("or mend this machine, then: ", (onward, "bold"))
        return ExitCode.FAILED
    say((missing, "yellow"), "; try: ", (onward, "bold"))
    return ExitCode.FAILED


def _never_ready(result: Result) -> bool:
    """Whether every stay failed for the same reason before it was ready: it will fail again."""
    events = list(result.events())
    failures = [str(event.get("why")) for event in events if event.get("event") == STAY_FAILED]
    ready = any(event.get("event") == READY for event in events)
    return not ready and len(alike.grouped(failures)) == 1
