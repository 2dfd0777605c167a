"""From a result directory to its analysis, page and tables; what `run` and `report` share."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from dunnage.cli.shared import blocks, machine_history
from dunnage.cli.shared.terminal import Format, out, say, show_json, typed
from dunnage.errors import ExitCode, UnwrittenError
from dunnage.findings.checks.trouble import ENOUGH_VALID
from dunnage.model.analysis import Analysis
from dunnage.opened import OpenedResult
from dunnage.report.export.csv_files import write_csv
from dunnage.report.page.page import page
from dunnage.report.terminal.brief import brief
from dunnage.report.terminal.text import answer_table
from dunnage.report.written import write
from dunnage.store.read import Result
from dunnage.store.write import write_value


def answer(
    result: Result,
    format_: Format,
    *,
    details: bool = False,
    figures: bool = False,
    measured: bool = False,
) -> ExitCode:
    """Remake analysis and report, show the answer, and say whether it can be trusted.

    With `details` it is shown in full. `figures` draws those for a paper too, which takes many
    seconds. `measured` says that this machine has just measured it, and not with fakes: then what
    its twins said is kept and shown beside what they said before.
    """
    opened = OpenedResult(result)
    study, analysis = opened.study, opened.analysis
    failures = [str(event["why"]) for event in result.events() if "why" in event]
    with _told_how_to_go_on(result, figures=figures):
        write_value(result.layout.analysis, analysis)
        text = page(
            analysis, study, opened.plan, result.stays, source=result.study_text, failures=failures
        )
        place = write(result.layout.report / "index.html", text)
        write_csv(analysis, result.layout.report)
    if format_ is Format.JSON:
        show_json(
            {
                "result": str(result.layout.root),
                "page": str(place),
                "analysis": analysis.model_dump(mode="json"),
            }
        )
    else:
        show = answer_table if details else brief
        out.print(show(analysis, study, opened.plan, failures))
        say("report: ", (str(place), "bold"))
        if analysis.invented:
            say("next: ", (typed("init"), "bold"))
    if measured:
        machine_history.keep(opened)
        machine_history.show()
    if figures:
        with _told_how_to_go_on(result, figures=figures):
            _draw(analysis, result)
    return _trust(analysis, result)


@contextmanager
def _told_how_to_go_on(result: Result, *, figures: bool) -> Iterator[None]:
    try:
        yield
    except UnwrittenError as error:
        error.hint = error.then(typed("report", result.layout.root, *["--figures"] * figures))
        raise


def _draw(analysis: Analysis, result: Result) -> None:
    # Only who asks for figures waits for matplotlib.
    from dunnage.report.paper.write import write_figures

    directory = result.layout.report / "figures"
    written = write_figures(analysis, result.plan, directory)
    say("figures: ", (str(directory), "bold"), f" ({len(written)} files)")


def _trust(analysis: Analysis, result: Result) -> ExitCode:
    if analysis.valid >= ENOUGH_VALID * analysis.planned:
        return ExitCode.OK
    counted = f"only {analysis.valid} of {analysis.planned} runs are valid"
    say((f"{counted}; the reasons are in the report", "yellow"))
    if not analysis.missing:
        # Every run has its record, so `--resume` alone would do nothing.
        again = typed("run", result.layout.study)
        more = blocks.command(result, max(1, blocks.spoiled(result)))
        say("fix what they name, then measure more blocks: ", (more, "bold"))
        say("or start a new result: ", (again, "bold"))
    return ExitCode.UNTRUSTWORTHY
