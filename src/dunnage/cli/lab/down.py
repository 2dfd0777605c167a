"""`dunnage lab down`: end a lab and remove all of it."""

from __future__ import annotations

from dunnage import lab_tool
from dunnage.cli.lab.choose import LabOption
from dunnage.cli.shared.terminal import Format, FormatOption, show_json, show_line
from dunnage.wording.numbers import count

NAME = "down"
HELP = "End a lab that was left standing, and remove all of it."
EXAMPLES = "Examples:  dunnage lab down  ·  dunnage lab down --lab 0a1b2c3d"


def command(lab: LabOption = None, format_: FormatOption = Format.TEXT) -> None:
    """Kill its hosts with all that runs there; remove directories and control groups."""
    found = lab_tool.chosen_lab(lab)
    lab_tool.take_down_lab(found)
    hosts = len(found.hosts)
    if format_ is Format.JSON:
        show_json({"lab": found.name, "hosts": hosts})
        return
    show_line(f"lab {found.name}: {count(hosts, 'host')}, their processes and files are gone")
