"""From a result directory to its analysis, page and tables; what `run` and `report` share."""

from __future__ import annotations

from pathlib import Path

from dunnage import catalog
from dunnage.analysis.judge import analyse
from dunnage.cli.terminal import Format, err, out, show_json
from dunnage.errors import ExitCode
from dunnage.model.analysis import Analysis
from dunnage.report.html import write_page
from dunnage.report.tables import write_csv
from dunnage.report.text import answer_table, as_json
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
        lambda run: result.artefact(run, _histograms(result, run)),
    )
    write_value(result.layout.analysis, analysis)
    result.layout.report.mkdir(exist_ok=True)
    page = result.layout.report / "index.html"
    write_page(analysis, study, result.plan, result.stays, page)
    write_csv(analysis, result.layout.report)
    if format_ is Format.JSON:
        show_json({**as_json(analysis), "page": str(page), "result": str(result.layout.root)})
    else:
        out.print(answer_table(analysis, study))
        err.print(f"report: [bold]{page}[/]", soft_wrap=True)
    return _trust(analysis)


def _histograms(result: Result, run: str) -> str:
    """Name of the histogram log among a run's artefacts; empty when it left none."""
    names = (path.name for path in result.layout.run(run).glob("*.hlog"))
    return next(names, "")


def _trust(analysis: Analysis) -> ExitCode:
    if analysis.valid >= ENOUGH_VALID * analysis.planned:
        return ExitCode.OK
    err.print(
        f"[yellow]only {analysis.valid} of {analysis.planned} runs are valid; "
        "the reasons are in the report[/]"
    )
    return ExitCode.UNTRUSTWORTHY


def relative(path: Path) -> Path:
    """The path as a user would type it from here."""
    try:
        return path.relative_to(Path.cwd())
    except ValueError:
        return path
