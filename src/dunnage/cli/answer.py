"""From a result directory to its analysis, page and tables; what `run` and `report` share."""

from __future__ import annotations

from dunnage import catalog
from dunnage.analysis.judge import analyse
from dunnage.cli.terminal import Format, out, say, show_json
from dunnage.errors import ExitCode
from dunnage.model.analysis import Analysis
from dunnage.report.html import write_page
from dunnage.report.tables import write_csv
from dunnage.report.text import answer_table
from dunnage.store.read import Result
from dunnage.store.write import write_value
from dunnage.study.read import read_study

ENOUGH_VALID = 0.9
"""Share of the planned runs that must be valid for an answer to be trusted."""


def answer(result: Result, format_: Format) -> ExitCode:
    """Remake analysis and report, show the answer, and say whether it can be trusted."""
    study = read_study(result.study_text, str(result.layout.study), catalog.OFFER)
    analysis = analyse(
        study,
        result.plan,
        result.records,
        result.stays,
        result.environment,
        lambda run: _histograms(result, run),
    )
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
    return _trust(analysis)


def _histograms(result: Result, run: str) -> bytes | None:
    """The histogram logs of all parts of a run, one after the other; None when it left none."""
    record = next(each for each in result.records if each.run == run)
    logs = [name for name in record.artefacts if name.endswith(".hlog")]
    return b"".join((result.layout.run(run) / name).read_bytes() for name in logs) or None


def _trust(analysis: Analysis) -> ExitCode:
    if analysis.valid >= ENOUGH_VALID * analysis.planned:
        return ExitCode.OK
    counted = f"only {analysis.valid} of {analysis.planned} runs are valid"
    say((f"{counted}; the reasons are in the report", "yellow"))
    return ExitCode.UNTRUSTWORTHY
