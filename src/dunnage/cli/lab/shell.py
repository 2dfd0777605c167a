"""`dunnage lab shell`: a shell, or one command, inside a host of a lab."""

from __future__ import annotations

from typing import Annotated

import typer

from dunnage import lab_tool
from dunnage.cli.lab.choose import LabOption

NAME = "shell"
HELP = "Open a shell on a host of a lab, or run one command there."
EXAMPLES = "Examples:  dunnage lab shell db-1  ·  dunnage lab shell db-1 -- ip address"


def _hosts(incomplete: str) -> list[str]:
    hosts = {host.name for lab in lab_tool.standing_labs() for host in lab.hosts}
    return sorted(name for name in hosts if name.startswith(incomplete))


def command(
    host: Annotated[str, typer.Argument(metavar="HOST", autocompletion=_hosts, help="Its name.")],
    argv: Annotated[
        list[str] | None,
        typer.Argument(metavar="COMMAND", help="A command instead of a shell, after `--`."),
    ] = None,
    lab: LabOption = None,
) -> None:
    """Become that program; it sees the host's network, mounts and processes."""
    found = lab_tool.chosen_lab(lab)
    lab_tool.enter_lab(found, found.host(host), argv or ())
