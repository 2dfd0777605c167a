"""`dunnage path`: the network path to the members of a deployment, hop by hop."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from dunnage import capabilities, catalog
from dunnage.cli.shared import completion, going_on
from dunnage.cli.shared.studies import study_at
from dunnage.cli.shared.terminal import Format, FormatOption, out, say, show_json, typed
from dunnage.errors import ResultError, UsageError, shown
from dunnage.findings.paths import sentences
from dunnage.findings.paths.recorded import recorded
from dunnage.model.deployment import Deployment
from dunnage.model.path import NetworkPath
from dunnage.opened import open_at
from dunnage.report.terminal.paths import drawing
from dunnage.runner.interrupt import Stop
from dunnage.runner.one_stay import paths_of
from dunnage.runner.rest import rest_of
from dunnage.study.matrix import deployments
from dunnage.study.suggest import hint as suggestion

NAME = "path"
HELP = "Show the network path from the client to each member of a deployment, read hop by hop."
EXAMPLES = (
    "Examples:  dunnage path studies/fake.yaml late  ·  "
    "dunnage path results/quickstart docker-bridge  ·  "
    "dunnage path study.yaml native --format json"
)


def command(
    study: Annotated[
        Path,
        typer.Argument(
            help="A study file: the deployment is brought up without load, and taken down. Or a "
            "result: what its stays recorded.",
            autocompletion=completion.studies,
        ),
    ],
    deployment: Annotated[
        str,
        typer.Argument(
            help="The name of the deployment.", autocompletion=completion.deployments_of
        ),
    ],
    format_: FormatOption = Format.TEXT,
) -> None:
    """Read the way on the living hosts, or from a result."""
    if study.is_dir():
        _recorded(study, deployment, format_)
    else:
        _living(study, deployment, format_)


def _living(path: Path, name: str, format_: Format) -> None:
    study, text = study_at(path)
    going_on.refuse_masked(text, path, "path", "STUDY", name)
    chosen = _chosen(deployments(study, catalog.OFFER), name, path)
    capabilities.available(study, [chosen])
    began = time.monotonic()

    def tell(step: str) -> None:
        say(f"{time.monotonic() - began:5.1f} s  {step}")

    with Stop(say, rest_of(study)) as stop:
        paths = paths_of(study, chosen, say, stop, tell)
    if format_ is Format.JSON:
        show_json({"deployment": name, "paths": _plain(paths)})
        return
    _draw(paths)


def _recorded(path: Path, name: str, format_: Format) -> None:
    opened = open_at(path)
    _chosen(opened.plan.deployments, name, path)
    found = recorded(name, opened.stays)
    if found is None:
        raise ResultError(
            f"no stay of deployment `{name}` recorded its network path",
            where=str(opened.path),
            hint=typed("path", opened.result.layout.study, name),
        )
    first = next(stay for stay in opened.stays if stay.stay == found.stay)
    if format_ is Format.JSON:
        show_json(
            {
                "deployment": name,
                "paths": _plain(first.paths),
                "stay": found.stay,
                "stays": found.stays,
                "differing": list(found.differing),
            }
        )
        return
    _draw(first.paths)
    say(sentences.others(found))


def _chosen(every: Sequence[Deployment], name: str, path: Path) -> Deployment:
    for each in every:
        if each.name == name:
            return each
    raise UsageError(
        f"there is no deployment {shown(name)}; {suggestion(name, [each.name for each in every])}",
        where=str(path),
        hint="dunnage path -h" if path.is_dir() else typed("plan", path),
    )


def _draw(paths: Sequence[NetworkPath]) -> None:
    for number, path in enumerate(paths):
        if number:
            out.print()
        out.print(drawing(path))


def _plain(paths: Sequence[NetworkPath]) -> list[Any]:
    return [path.model_dump(mode="json") for path in paths]
