"""`dunnage status`: how far a result has come."""

from __future__ import annotations

from collections import Counter

from dunnage.cli.shared.studies import ResultArgument
from dunnage.cli.shared.terminal import Format, FormatOption, out, say, show_json, show_line, typed
from dunnage.errors import ResultError
from dunnage.findings.study.sentences import scaled
from dunnage.model.check import Status
from dunnage.report.terminal.text import status_table
from dunnage.store.newest import RESULTS
from dunnage.store.read import Result, open_result
from dunnage.study.scale import share_of
from dunnage.wording import checks, damage

NAME = "status"
HELP = "Show how far a result has come: finished, invalid and missing runs, with reasons."
EXAMPLES = "Examples:  dunnage status  ·  dunnage status results/quickstart --format json"


def command(
    result: ResultArgument = RESULTS,
    format_: FormatOption = Format.TEXT,
) -> None:
    """Read a result directory; also while a study is running."""
    opened = open_result(result)
    share = _scale(opened)
    planned = [run.id for run in opened.plan.runs()]
    finished = opened.finished()
    missing = [run for run in planned if run not in finished]
    statuses = {record.run: record.status for record in opened.records}
    statuses |= {found.run: Status.UNKNOWN for found in opened.damaged_records}
    counted = Counter(statuses[run] for run in planned if run in statuses)
    failures = [event for event in opened.events() if "why" in event]
    if format_ is Format.JSON:
        show_json(
            {
                "result": str(opened.layout.root),
                "study": opened.plan.study,
                "scale": share,
                "planned": len(planned),
                "finished": len(finished),
                **{status.value: counted[status] for status in Status},
                "missing": missing,
                "damaged": [each.model_dump(mode="json") for each in opened.damaged_records],
                "failures": [dict(event) for event in failures],
            }
        )
        return
    out.print(status_table(opened.plan, statuses))
    if told := scaled(share):
        show_line(told)
    for status in (Status.INVALID, Status.UNKNOWN):
        for record in opened.records:
            if record.status is status:
                show_line(f"  {status.value} {record.run}: {checks.failed(record.checks)}")
    for line in damage.lines(opened.damaged_records):
        show_line(f"  damaged {line}")
    for event in failures:
        what = next(filter(None, map(event.get, ("stay", "run", "of", "host"))), "")
        show_line(f"  {event.get('event')} {what}: {event['why']}")
    verb = ("run", "--resume") if missing else ("report",)
    say("next: ", (typed(*verb, opened.layout.root), "bold"))


def _scale(result: Result) -> float | None:
    """The share to which the study was made smaller, as far as its text can be read."""
    try:
        return share_of(result.study_text)
    except ResultError:
        return None
