"""`dunnage status`: how far a result has come."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from dunnage.cli.shared import going_on
from dunnage.cli.shared.studies import ResultArgument
from dunnage.cli.shared.terminal import Format, FormatOption, out, say, show_json, show_line, typed
from dunnage.errors import ResultError
from dunnage.findings.checks import reasons
from dunnage.findings.study.sentences import scaled
from dunnage.model.check import Status
from dunnage.model.damage import Damage
from dunnage.opened import open_at
from dunnage.report.terminal.text import status_table
from dunnage.store.newest import RESULTS
from dunnage.store.read import Result
from dunnage.study.scale import share_of
from dunnage.wording import damage

NAME = "status"
HELP = "Show how far a result has come: finished, invalid and missing runs, with reasons."
EXAMPLES = "Examples:  dunnage status  ·  dunnage status results/quickstart --format json"


def command(
    result: ResultArgument = RESULTS,
    format_: FormatOption = Format.TEXT,
) -> None:
    """Read a result directory; also while a study is running."""
    found = open_at(result)
    opened = found.result
    share = _scale(opened)
    planned = [run.id for run in opened.plan.runs()]
    finished = opened.finished()
    missing = [run for run in planned if run not in finished]
    running = opened.in_progress()
    damages = found.examined.damages
    judged = [run for run in found.judged if run.run in finished]
    statuses = {run.run: Status(run.status) for run in judged}
    counted = Counter(statuses.values())
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
                "damaged": [each.model_dump(mode="json") for each in damages],
                "running": running,
                "failures": [dict(event) for event in failures],
            }
        )
        return
    out.print(status_table(opened.plan, statuses))
    if told := scaled(share):
        show_line(told)
    for status in (Status.INVALID, Status.UNKNOWN):
        for run in judged:
            if run.status == status and run.run not in found.damaged:
                why = (f"{reason.gate}: {reason.seen}" for reason in reasons.of_run(run))
                show_line(f"  {status.value} {run.run}: {'; '.join(why)}")
    for line in damage.lines(damages):
        show_line(f"  damaged {line}")
    if told := damage.brief(damages):
        say((told, "yellow"))
    for event in failures:
        what = next(filter(None, map(event.get, ("stay", "run", "of", "host"))), "")
        show_line(f"  {event.get('event')} {what}: {event['why']}")
    say("next: ", (_next(opened, damages, missing=bool(missing), running=running), "bold"))


def _next(opened: Result, damages: Sequence[Damage], *, missing: bool, running: bool) -> str:
    """The next command."""
    if running:
        return f"{typed('status', opened.layout.root)}  # a study is writing this result"
    if any(not found.run or going_on.in_the_way(opened, found.run) for found in damages):
        return typed("verify", opened.layout.root)
    return going_on.onward(opened) if missing else typed("report", opened.layout.root)


def _scale(result: Result) -> float | None:
    """The share to which the study was made smaller, as far as its text can be read."""
    try:
        return share_of(result.study_text)
    except ResultError:
        return None
