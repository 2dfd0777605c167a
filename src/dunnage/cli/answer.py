"""From a result directory to its analysis, page and tables; what `run` and `report` share."""

from __future__ import annotations

from dunnage.cli import blocks
from dunnage.cli.terminal import Format, out, say, show_json, typed
from dunnage.errors import ExitCode
from dunnage.model.analysis import Analysis
from dunnage.opened import OpenedResult
from dunnage.report.html import write_page
from dunnage.report.tables import write_csv
from dunnage.report.text import answer_table
from dunnage.store.read import Result
from dunnage.store.write import write_value

ENOUGH_VALID = 0.9
"""Share of the planned runs that must be valid for an answer to be trusted."""


def answer(result: Result, format_: Format) -> ExitCode:
    """Remake analysis and report, show the answer, and say whether it can be trusted."""
    opened = OpenedResult(result)
    study, analysis = opened.study, opened.analysis
    write_value(result.layout.analysis, analysis)
    result.layout.report.mkdir(exist_ok=True)
    page = result.layout.report / "index.html"
    failures = [str(event["why"]) for event in result.events() if "why" in event]
    write_page(
        analysis,
        study,
        result.plan,
        result.stays,
        page,
        source=result.study_text,
        failures=failures,
    )
    write_csv(analysis, result.layout.report)
    if format_ is Format.JSON:
        show_json(
            {
                "result": str(result.layout.root),
                "page": str(page),
                "analysis": analysis.model_dump(mode="json"),
            }
        )
    else:
        out.print(answer_table(analysis, study, result.plan, failures))
        say("report: ", (str(page), "bold"))
    return _trust(analysis, result)


def _trust(analysis: Analysis, result: Result) -> ExitCode:
    if analysis.valid >= ENOUGH_VALID * analysis.planned:
        return ExitCode.OK
    counted = f"only {analysis.valid} of {analysis.planned} runs are valid"
    say((f"{counted}; the reasons are in the report", "yellow"))
    if not analysis.missing:
        # Every run has its record, so `--resume` alone would do nothing.
        again = typed("run", result.layout.study)
        more = blocks.command(result, max(1, blocks.spoiled(result)))
        say("mend what they name, then measure more blocks: ", (more, "bold"))
        say("or all of it anew: ", (again, "bold"))
    return ExitCode.UNTRUSTWORTHY
