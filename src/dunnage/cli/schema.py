"""`dunnage schema`: the JSON Schemas of everything that is written or read."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any

import typer

from dunnage import catalog
from dunnage.cli.shared.terminal import show_json, typed
from dunnage.errors import ResultError, UnavailableError, UnwrittenError, UsageError
from dunnage.model.analysis import Analysis
from dunnage.model.between import ResultComparison
from dunnage.model.look import Look
from dunnage.model.plan import Plan
from dunnage.model.record import Record, StayRecord
from dunnage.report.tables import runs
from dunnage.software.engine import engine_path
from dunnage.store.regular import regular_bytes
from dunnage.store.write import write_again
from dunnage.study.schema import study_schema
from dunnage.study.suggest import nearest

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
) -> None:
    """Print one schema, or write or check all of them."""
    if write is None and check is None:
        own = _own()
        if name not in own:
            raise UsageError(
                f"there is no schema `{name}`; the schemas are {', '.join(own)}",
                hint=typed("schema", nearest(name, own) or next(iter(own))),
            )
        show_json(own[name])
        return
    if check is not None and write is None:
        _listed(check)  # nobody waits for what is not there
    fresh = _fresh()
    if write is not None:
        _write(fresh, write)
    if check is not None:
        _refuse_stale(fresh, check)


def _listed(check: Path) -> list[Path]:
    try:
        return sorted(check.iterdir())
    except OSError as error:
        raise UsageError(
            f"cannot read the schemas: {error.strerror}",
            where=str(check),
            hint=typed("schema", "--write", check),
        ) from error


def _write(fresh: Mapping[str, bytes], directory: Path) -> None:
    try:
        for name, content in fresh.items():
            write_again(directory / name, content)
    except UnwrittenError as error:
        elsewhere = typed("schema", "--write", "DIRECTORY")
        error.hint = error.then(typed("schema", "--write", directory), elsewhere)
        raise


def _refuse_stale(fresh: Mapping[str, bytes], check: Path) -> None:
    """Raise ResultError for a directory that holds something else."""
    present = {path.name: _content(path) for path in _listed(check)}
    stale = [name for name in fresh if present.get(name) != fresh[name]]
    if stale:
        again = typed("schema", "--write", check)
        raise ResultError(f"out of date: {', '.join(stale)}", where=str(check), hint=again)
    other = sorted(present.keys() - fresh.keys())
    if other:
        raise ResultError(
            f"no schemas: {', '.join(other)}",
            where=str(check),
            hint="remove what is no schema, or name a directory of its own",
        )


def _content(path: Path) -> bytes | None:
    """What a file holds; None for what is no file or cannot be read."""
    try:
        return regular_bytes(path)
    except OSError:
        return None


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


def _fresh() -> Mapping[str, bytes]:
    """All schemas by the names of their files, those of the engine too."""
    texts = {
        f"{name}.schema.json": json.dumps(schema, indent=2, ensure_ascii=False) + "\n"
        for name, schema in _own().items()
    }
    own = {name: text.encode() for name, text in {**texts, RUNS: runs.document()}.items()}
    return {**own, **_of_the_engine()}


def _of_the_engine() -> Mapping[str, bytes]:
    """Those that the engine writes, which it does into a directory."""
    engine = engine_path()
    try:
        with TemporaryDirectory() as directory:
            command = [str(engine), "schema", "--out", directory]
            ended = subprocess.run(
                command, capture_output=True, text=True, errors="replace", start_new_session=True
            )
            if not ended.returncode:
                return {path.name: path.read_bytes() for path in sorted(Path(directory).iterdir())}
    except OSError as error:
        why = error.strerror or str(error)
    else:
        why = ended.stderr.strip() or f"it ended with code {ended.returncode}"
    raise UnavailableError(
        f"the engine cannot write its schemas: {why}",
        where="temporary directory",
        hint="free some space, or set `TMPDIR` to another directory",
    )
