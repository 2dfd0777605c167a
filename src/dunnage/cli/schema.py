"""`dunnage schema`: the JSON Schemas of everything that is written or read."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any

import typer

from dunnage import catalog
from dunnage.cli.shared.terminal import say, show_json
from dunnage.errors import ExitCode, UsageError
from dunnage.model.analysis import Analysis
from dunnage.model.between import ResultComparison
from dunnage.model.look import Look
from dunnage.model.plan import Plan
from dunnage.model.record import Record, StayRecord
from dunnage.report.tables import runs
from dunnage.software.engine import engine_path
from dunnage.study.schema import study_schema

NAME = "schema"
HELP = "Print a JSON Schema, for editors and other programs."
EXAMPLES = "Examples:  dunnage schema study > study.schema.json  ·  dunnage schema --check schema"
RUNS = "runs.parquet.md"
"""What the columns of the Parquet file of all runs are."""


def command(
    name: Annotated[
        str,
        typer.Argument(
            help="study, plan, stay, record, look, analysis or compare.",
            autocompletion=lambda incomplete: [
                name for name in _own() if name.startswith(incomplete)
            ],
        ),
    ] = "study",
    write: Annotated[
        Path | None,
        typer.Option(help="Write all schemas into a directory, including those of the engine."),
    ] = None,
    check: Annotated[
        Path | None, typer.Option(help="Exit 4 if the schemas in a directory are out of date.")
    ] = None,
) -> ExitCode:
    """Print one schema, or write or check all of them."""
    if write is None and check is None:
        own = _own()
        if name not in own:
            raise UsageError(f"there is no schema `{name}`; the schemas are {', '.join(own)}")
        show_json(own[name])
        return ExitCode.OK
    with TemporaryDirectory() as directory:
        fresh = Path(directory)
        _write_all(fresh)
        if write is not None:
            shutil.copytree(fresh, write, dirs_exist_ok=True)
        if check is not None:
            if not check.is_dir():
                raise UsageError("there is no such directory", where=str(check))
            new, present = _contents(fresh), _contents(check)
            stale = [name for name in new if present.get(name) != new[name]]
            stale += sorted(present.keys() - new.keys())
            if stale:
                say(f"out of date: {', '.join(stale)}; try: ", ("make schema", "bold"))
                return ExitCode.FAILED
    return ExitCode.OK


def _contents(directory: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(directory.iterdir())}


def _own() -> Mapping[str, Any]:
    return {
        "study": study_schema(catalog.OFFER),
        "plan": Plan.model_json_schema(),
        "stay": StayRecord.model_json_schema(),
        "record": Record.model_json_schema(),
        "look": Look.model_json_schema(),
        "analysis": Analysis.model_json_schema(),
        "compare": ResultComparison.model_json_schema(),
    }


def _write_all(directory: Path) -> None:
    for name, schema in _own().items():
        text = json.dumps(schema, indent=2, ensure_ascii=False)
        (directory / f"{name}.schema.json").write_text(text + "\n", encoding="utf-8")
    (directory / RUNS).write_text(runs.document(), encoding="utf-8")
    subprocess.run(
        [engine_path(), "schema", "--out", str(directory)], check=True, start_new_session=True
    )
