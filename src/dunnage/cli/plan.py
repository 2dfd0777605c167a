"""`dunnage plan`: every block, stay and run, and the time they will take."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dunnage.cli.files import ScaleOption, planned, study_at
from dunnage.cli.terminal import Format, FormatOption, out, show_json
from dunnage.report.text import plan_table

NAME = "plan"
HELP = "Show every block, stay and run of a study, and how long they will take."
EXAMPLES = (
    "Examples:  dunnage plan studies/fake.yaml  ·  "
    "dunnage plan study.yaml --only docker-host --only C  ·  dunnage plan study.yaml --format json"
)


def command(
    study: Annotated[Path, typer.Argument(help="The study file.")],
    only: Annotated[
        list[str] | None,
        typer.Option(help="Only runs whose deployment, workload or level fits; may be repeated."),
    ] = None,
    scale: ScaleOption = None,
    format_: FormatOption = Format.TEXT,
) -> None:
    """Read, check and plan; start nothing."""
    value, _ = study_at(study, scale)
    plan, seconds = planned(value, only or ())
    if format_ is Format.JSON:
        show_json({"seconds": seconds, "plan": plan.model_dump(mode="json")})
        return
    out.print(plan_table(plan, value, seconds))
