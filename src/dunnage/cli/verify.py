"""`dunnage verify`: whether the files of a result are as they were written."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from dunnage.cli.shared import going_on
from dunnage.cli.shared.studies import ResultArgument
from dunnage.cli.shared.terminal import (
    Format,
    FormatOption,
    say,
    shell_line,
    show_json,
    show_line,
    typed,
)
from dunnage.errors import ExitCode, ResultError
from dunnage.model.damage import JOURNAL, Damage, Flaw
from dunnage.opened import open_at
from dunnage.secrets.texts import told_of
from dunnage.store.layout import ResultLayout
from dunnage.store.newest import RESULTS
from dunnage.store.parse import DamagedError, ForbiddenError, as_owner
from dunnage.store.read import Result
from dunnage.store.whole import unexamined, unexamined_logs
from dunnage.wording import damage
from dunnage.wording.numbers import count
from dunnage.wording.terms import listed

NAME = "verify"
HELP = (
    "Check that the files of a result are as they were written: the study, the plans, the records "
    "and what they come from. Logs, `analysis.json` and `report/` are not examined: "
    "`dunnage report` writes the last two again. Exit code 8 if files are missing, damaged or "
    "changed, and 3 if this user may not read some of them."
)
EXAMPLES = "Examples:  dunnage verify  ·  dunnage verify results/quickstart --format json"


class _DamagedResultError(ResultError):
    """A result that cannot even be opened."""

    exit_code = ExitCode.DAMAGED


def command(result: ResultArgument = RESULTS, format_: FormatOption = Format.TEXT) -> ExitCode:
    """Read every file and compare its checksum; nothing is written."""
    try:
        opened = open_at(result)
        found = opened.examined
    except ForbiddenError:
        raise
    except DamagedError as error:
        lost = Result(ResultLayout(Path(error.where).parent))
        raised = _DamagedResultError(error.what, where=error.where, hint=going_on.anew(lost))
        raised.needed = error.needed
        raise raised from error
    bad, closed = damage.apart(found.damages)
    if format_ is Format.JSON:
        show_json(
            {
                "result": str(opened.path),
                "files": found.files,
                "unlisted": found.unlisted,
                "damages": [each.model_dump(mode="json") for each in found.damages],
                "not_examined": (*unexamined(opened.result), *unexamined_logs(opened.result)),
            }
        )
    else:
        for line in damage.lines(found.damages):
            show_line(line)
        told = damage.verified(found.files, found.unlisted, found.damages)
        say(told_of(opened.path, told))
        _tell_unexamined(opened.result)
        for step in _next(opened.result, found.damages):
            say(*step)
    if bad:
        return ExitCode.DAMAGED
    return ExitCode.UNAVAILABLE if closed else ExitCode.OK


def _tell_unexamined(result: Result) -> None:
    """Name what people read, and no checksum is kept of."""
    if names := unexamined(result):
        what = listed([f"`{name}`" for name in names])
        say(
            f"not examined: {what}; to write them again: ",
            (typed("report", result.layout.root), "bold"),
        )
    if logs := unexamined_logs(result):
        say(f"not examined: {count(len(logs), 'log')} of members, in `{result.layout.stays.name}`")


Step = tuple[str | tuple[str, str], ...]
"""A line of advice: texts, and texts with their style."""


def _next(result: Result, damages: Sequence[Damage]) -> Iterator[Step]:
    """What helps, by what is damaged."""
    bad, closed = damage.apart(damages)
    root = result.layout.root
    if closed:
        command = as_owner(root / closed[0].file, "verify", str(root))
        yield ("to have all of it read: ", (command, "bold"))
    foreign = _foreign(bad)
    if foreign:
        removing = shell_line("rm", "-r", *((root / each.file).parent for each in foreign))
        yield ("to remove what this study did not write: ", (removing, "bold"))
    whole = [each for each in bad if not each.run and each not in foreign]
    for doubt in damage.doubts(whole):
        yield ((doubt, "yellow"),)
    if whole:
        files = ", ".join(dict.fromkeys(f"`{each.file}`" for each in whole))
        yield (
            f"put back {files} from a copy, or start a new result: ",
            (going_on.anew(result), "bold"),
        )
    elif again := going_on.again(result, bad):
        yield ("to measure what is lost again: ", (again, "bold"))
    elif len(bad) > len(foreign):
        yield ("to measure it in a new result: ", (going_on.anew(result), "bold"))


def _foreign(bad: Sequence[Damage]) -> Sequence[Damage]:
    """What was put beside the runs and stays of the study, and may be removed.

    Where the journal or a plan is not as it was written, nobody knows what is the study's own.
    Where the journal has lost lines of runs, nobody knows it of stays.
    """
    if any(each.file == JOURNAL or each.file.startswith("plan") for each in bad):
        return []
    certain = ("runs/",) if any(each.run for each in bad) else ("runs/", "stays/")
    unlisted = (each for each in bad if each.flaw is Flaw.UNLISTED and not each.run)
    return [each for each in unlisted if each.file.startswith(certain)]
