"""`dunnage verify`: whether the files of a result are as they were written."""

from __future__ import annotations

import shlex
from pathlib import Path

from dunnage.cli.shared.studies import ResultArgument
from dunnage.cli.shared.terminal import (
    Format,
    FormatOption,
    say,
    show_error,
    show_json,
    show_line,
    typed,
)
from dunnage.errors import ExitCode
from dunnage.opened import open_at
from dunnage.store.newest import RESULTS
from dunnage.store.parse import DamagedError
from dunnage.wording import damage

NAME = "verify"
HELP = (
    "Check that the files of a result are as they were written. Exit code 8 if files are missing, "
    "damaged or changed."
)
EXAMPLES = "Examples:  dunnage verify  ·  dunnage verify results/quickstart --format json"


def command(result: ResultArgument = RESULTS, format_: FormatOption = Format.TEXT) -> ExitCode:
    """Read every file and compare its checksum; nothing is written."""
    try:
        opened = open_at(result)
        found = opened.examined
    except DamagedError as error:
        error.hint = typed("run", Path(error.where).with_name("study.yaml"))
        show_error(error)
        return ExitCode.DAMAGED
    again = typed("run", "--resume", opened.path)
    if format_ is Format.JSON:
        show_json(
            {
                "result": str(opened.path),
                "files": found.files,
                "unlisted": found.unlisted,
                "damages": [each.model_dump(mode="json") for each in found.damages],
            }
        )
    else:
        for line in damage.lines(found.damages):
            show_line(line)
        told = damage.verified(found.files, found.unlisted, found.damages)
        say(f"{opened.path}: {told}")
        for run in dict.fromkeys(each.run for each in found.damages if each.run):
            directory = shlex.quote(str(opened.result.layout.run(run)))
            say(f"to measure `{run}` again: rm -r {directory}, then: ", (again, "bold"))
    return ExitCode.DAMAGED if found.damages else ExitCode.OK
