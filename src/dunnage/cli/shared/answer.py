"""From a result directory to its analysis, page and tables; what `run` and `report` share."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from dunnage.cli.shared import blocks, going_on, machine_history, trust
from dunnage.cli.shared.terminal import Format, formatted, out, say, show_json, typed
from dunnage.errors import ExitCode, UnwrittenError
from dunnage.findings.checks.sentences import enough_valid
from dunnage.findings.differences import sentences
from dunnage.findings.differences.lacking import lacking
from dunnage.model.analysis import Analysis
from dunnage.model.check import Status
from dunnage.model.damage import Damage
from dunnage.opened import OpenedResult
from dunnage.report.export.csv_files import write_csv
from dunnage.report.page.page import page
from dunnage.report.terminal.brief import brief
from dunnage.report.terminal.text import answer_table
from dunnage.store.parse import as_owner
from dunnage.store.read import Result
from dunnage.store.regular import refuse_link
from dunnage.store.write import write_again, write_value
from dunnage.wording import damage
from dunnage.wording.terms import listed


def answer(
    opened: OpenedResult,
    format_: Format,
    *,
    details: bool = False,
    figures: bool = False,
    measured: bool = False,
    source: Path | None = None,
) -> ExitCode:
    """Remake analysis and report, show the answer, and say whether it can be trusted.

    With `details` it is shown in full. `figures` draws those for a paper too, which takes many
    seconds. `measured` says that this machine has just measured it, and not with fakes: then what
    its twins said is kept and shown beside what they said before. `source` is the study's file, if
    that is another one than the result's copy.
    """
    result, study, analysis = opened.result, opened.study, opened.analysis
    failures = [str(event["why"]) for event in result.events() if "why" in event]
    place, unwritten = _stored(opened, failures)
    if format_ is Format.JSON:
        show_json(
            {
                "result": str(result.layout.root),
                "page": str(place) if unwritten is None else None,
                "damage": damage.brief(analysis.damages) or None,
                "thinned": sentences.thinned(analysis),
                "analysis": analysis.model_dump(mode="json"),
            }
        )
    else:
        show = answer_table if details else brief
        out.print(show(analysis, study, opened.plan, failures, scale=opened.scale))
        if unwritten is None:
            say("report: ", (str(place), "bold"))
        _tell_lacking(opened, source)
    if measured:
        machine_history.keep(opened)
        machine_history.show()
    if figures and unwritten is None:
        unwritten = _drawn(opened)
    if unwritten is not None:
        options = ["--details"] * details + ["--figures"] * figures + formatted(format_)
        _tell_or_raise(unwritten, typed("report", result.layout.root, *options))
    return _trust(analysis, result, numbers_count=opened.scale is None)


def _tell_lacking(opened: OpenedResult, source: Path | None) -> None:
    """Say how to measure what a part of a study lacks, too.

    A result's own study cannot be measured anew where it has a mask in the place of a secret.
    """
    found = lacking(opened.study, opened.plan)
    if found is None or (source is None and not going_on.may_go_on(opened.result)):
        return
    part = [word for name in found.part for word in ("--only", name)]
    again = typed("run", source or opened.result.layout.study, *part)
    say(f"with {listed([f'`{name}`' for name in found.names])}: ", (again, "bold"))


Stored = tuple[Path, UnwrittenError | None]
"""Where the report's page is, and why nothing or not everything was stored."""


def _stored(opened: OpenedResult, failures: Sequence[str]) -> Stored:
    """Write what is made from a result beside it."""
    layout = opened.result.layout
    place = layout.report / "index.html"
    source, stays = opened.result.study_text, opened.stays
    text = page(
        opened.analysis,
        opened.study,
        opened.plan,
        stays,
        source=source,
        failures=failures,
        scale=opened.scale,
    )
    try:
        _refuse_links(layout.report)
        write_value(layout.analysis, opened.analysis)
        write_again(place, text.encode())
        write_csv(opened.analysis, layout.report)
    except UnwrittenError as error:
        return place, error
    return place, None


def _drawn(opened: OpenedResult) -> UnwrittenError | None:
    """Draw the figures of a paper; returns why they were not written."""
    # Only who asks for figures waits for matplotlib.
    from dunnage.report.paper.write import write_figures

    directory = opened.result.layout.report / "figures"
    try:
        _refuse_links(directory)
        written = write_figures(opened.analysis, opened.plan, directory)
    except UnwrittenError as error:
        return error
    say("figures: ", (str(directory), "bold"), f" ({len(written)} files)")
    return None


def _refuse_links(directory: Path) -> None:
    """Raise UnwrittenError for a link: a result may come from anybody, and lead anywhere."""
    try:
        refuse_link(directory)
    except OSError as error:
        raise UnwrittenError(error, str(directory)) from error


def _tell_or_raise(error: UnwrittenError, again: str) -> None:
    """The answer was shown: who may not write is told that nothing was stored, and no more."""
    if error.forbidden:
        say((f"the report was not stored: {error}", "yellow"))
        return
    error.hint = error.then(again)
    raise error


def _trust(analysis: Analysis, result: Result, *, numbers_count: bool) -> ExitCode:
    """Say what would make the answer one that can be trusted, and whether it is.

    `numbers_count` is false for a quick try, which nobody needs to measure better.
    """
    if trust.tell_too_few(analysis, result):
        return trust.ending(analysis)
    told = _tell_mended(analysis.damages, result)
    if numbers_count and not (enough_valid(analysis) or told or analysis.missing):
        _tell_more(analysis, result)
    return trust.ending(analysis)


def _tell_mended(damages: Sequence[Damage], result: Result) -> bool:
    """Say what helps against damaged files; returns whether anything does."""
    bad, closed = damage.apart(damages)
    root = result.layout.root
    if closed:
        command = as_owner(root / closed[0].file, "report", str(root))
        say("to have these files read: ", (command, "bold"))
    if not damage.whole(bad):
        say("what is wrong, and what helps: ", (typed("verify", root), "bold"))
    if not damage.whole(damages):
        return True  # nothing is measured for it
    again = going_on.again(result, damages)
    if again:
        say("measure the runs again whose files are damaged: ", (again, "bold"))
    return bool(closed or again)


def _tell_more(analysis: Analysis, result: Result) -> None:
    """Say how to get more valid runs where all have a record, so that `--resume` does nothing."""
    again = going_on.anew(result)
    if not going_on.may_go_on(result):
        say("fix what they name, then start a new result: ", (again, "bold"))
        return
    spoilt = {run.block for run in analysis.runs if run.status != Status.VALID}
    advised = max((found.more_blocks or 0 for found in analysis.advice), default=0)
    more = blocks.command(result, advised or max(1, len(spoilt)))
    say("fix what they name, then measure more blocks: ", (more, "bold"))
    say("or start a new result: ", (again, "bold"))
