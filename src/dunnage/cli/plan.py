"""`dunnage plan`: every block, stay and run, the time they will take, and what is missing."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from dunnage.analysis.groups import grouped
from dunnage.cli.shared import completion
from dunnage.cli.shared.manifests import show_manifests
from dunnage.cli.shared.studies import (
    A_DAY,
    OnlyOption,
    ScaleOption,
    foreseen,
    given,
    study_at,
    without_room,
)
from dunnage.cli.shared.terminal import (
    Format,
    FormatOption,
    out,
    say,
    say_wrapped,
    show_json,
    typed,
)
from dunnage.errors import UsageError
from dunnage.model.deployment import Deployment
from dunnage.model.plan import Plan, Skipped
from dunnage.report.terminal.planned_runs import runs_table
from dunnage.report.terminal.text import plan_table
from dunnage.secrets.files import masked_data

NAME = "plan"
HELP = "Show the blocks and stays of a study, how long they will take, and what is missing."
EXAMPLES = (
    "Examples:  dunnage plan studies/fake.yaml  ·  "
    "dunnage plan study.yaml --only docker-host --only C --runs  ·  "
    "dunnage plan studies/kubernetes.yaml --only node-port --manifests  ·  "
    "dunnage plan study.yaml --format json"
)


def command(
    study: Annotated[
        Path, typer.Argument(help="The study file.", autocompletion=completion.studies)
    ],
    only: OnlyOption = None,
    runs: Annotated[
        bool, typer.Option("--runs", help="Also list every run in its order, with its load.")
    ] = False,
    manifests: Annotated[
        bool,
        typer.Option(
            "--manifests",
            help="Show every Kubernetes object that a stay creates instead, in its order, to read "
            "or to give to `kubectl apply -f -`.",
        ),
    ] = False,
    restricted: Annotated[
        bool,
        typer.Option(
            "--restricted",
            help="With `--manifests`: objects as they are where a cluster that exists already "
            "refuses privileged pods, such as by Pod Security.",
        ),
    ] = False,
    scale: ScaleOption = None,
    format_: FormatOption = Format.TEXT,
) -> None:
    """Read, check and plan; start nothing, and need no rights."""
    if manifests and runs:
        raise UsageError("`--manifests` and `--runs` are two answers: ask for one of them")
    if restricted and not manifests:
        raise UsageError(
            "`--restricted` is for objects of Kubernetes, and `--manifests` does not ask for them",
            hint=typed("plan", study, "--manifests", "--restricted"),
        )
    value, _ = study_at(study, scale)
    plan, seconds, missing = foreseen(value, only or (), study)
    if manifests:
        show_manifests(value, plan, format_, study, restricted=restricted)
        _tell_missing(missing)
        return
    if format_ is Format.JSON:
        unmet = {skipped.deployment: skipped.reason for skipped, _ in missing}
        show_json({"seconds": seconds, "missing": unmet, "plan": plan.model_dump(mode="json")})
        return
    out.print(plan_table(_without_secrets(plan), value, seconds))
    if runs:
        out.print(runs_table(plan))
    if too_many := without_room(value, len(plan.deployments)):
        say_wrapped(f"this cannot run here: {too_many}", "bold red")
    if seconds > A_DAY:
        start = typed("run", study, *given(only=only or (), scale=scale), "--yes")
        say((f"this takes more than a day; start it with: {start}", "yellow"))
    _tell_missing(missing)


def _tell_missing(missing: Sequence[tuple[Skipped, str]]) -> None:
    lacking = grouped((skipped for skipped, _ in missing), lambda skipped: skipped.reason)
    for reason, alike in lacking.items():
        names = ", ".join(skipped.deployment for skipped in alike)
        say_wrapped(f"missing here for {names}: {reason}", "yellow")
    for hint in dict.fromkeys(hint for _, hint in missing):
        say("try: ", (hint, "bold"))


def _without_secrets(plan: Plan) -> Plan:
    """The plan as a table may show it: a log of it may be read by others."""
    shown = (masked_data(each.model_dump(mode="json")) for each in plan.deployments)
    deployments = tuple(Deployment.model_validate(each) for each in shown)
    return plan.model_copy(update={"deployments": deployments})
