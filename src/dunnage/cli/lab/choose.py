"""Which lab a verb is about."""

from __future__ import annotations

from typing import Annotated

import typer

from dunnage import lab_tool
from dunnage.errors import DunnageError
from dunnage.hosts.standing import StandingLab


def _names(incomplete: str) -> list[str]:
    try:
        return [lab.name for lab in lab_tool.standing_labs() if lab.name.startswith(incomplete)]
    except DunnageError:
        return []


LabOption = Annotated[
    str | None,
    typer.Option(
        "--lab",
        metavar="LAB",
        autocompletion=_names,
        help="Name of the lab. Needed only if more than one stands here.",
    ),
]


def naming(lab: StandingLab) -> tuple[str, ...]:
    """The words of a command that name a lab; none are needed if no other was left standing."""
    others = [each for each in lab_tool.standing_labs() if each.kept and each.name != lab.name]
    return ("--lab", lab.name) if others else ()
