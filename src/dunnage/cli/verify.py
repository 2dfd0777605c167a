"""`dunnage verify`: whether the files of a result are as they were written."""

from __future__ import annotations

from dunnage.cli.shared.studies import ResultArgument
from dunnage.cli.shared.terminal import Format, FormatOption, say, show_json, show_line
from dunnage.errors import ExitCode
from dunnage.opened import open_at
from dunnage.store.read import RESULTS
from dunnage.wording import damage

NAME = "verify"
HELP = (
    "Check that the files of a result are as they were written. Exit code 8 if files are missing, "
    "damaged or changed."
)
EXAMPLES = "Examples:  dunnage verify  ·  dunnage verify results/quickstart --format json"


def command(result: ResultArgument = RESULTS, format_: FormatOption = Format.TEXT) -> ExitCode:
    """Read every file and compare its checksum; nothing is written."""
    opened = open_at(result)
    found = opened.examined
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
        say(damage.verified(found.files, found.unlisted, found.damages))
    return ExitCode.DAMAGED if found.damages else ExitCode.OK
