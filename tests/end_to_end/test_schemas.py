"""Schemas are written whole and checked, whatever stands in their place."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from hostile import dunnage


def test_what_is_written_is_up_to_date_and_what_is_not_is_named(tmp_path: Path) -> None:
    schemas = tmp_path / "schemas"
    assert dunnage("schema", "--write", schemas).code == 0
    assert dunnage("schema", "--check", schemas).code == 0
    (schemas / "plan.schema.json").write_text("{}")
    (schemas / "study.schema.json").unlink()
    os.mkfifo(schemas / "study.schema.json")
    shown = dunnage("schema", "--check", schemas)
    assert shown.code == 4
    assert "out of date: study.schema.json, plan.schema.json\n" in shown.err
    assert f"try: dunnage schema --write {schemas}" in shown.err
    assert dunnage("schema", "--write", schemas, "--check", schemas).code == 0


def test_what_is_no_schema_is_named(tmp_path: Path) -> None:
    assert dunnage("schema", "--write", tmp_path).code == 0
    (tmp_path / "more").mkdir()
    shown = dunnage("schema", "--check", tmp_path)
    assert shown.code == 4
    assert f"{tmp_path}: no schemas: more" in shown.err


def test_without_room_for_temporary_files_it_says_so() -> None:
    """No file may grow here."""
    command = [sys.executable, "-m", "dunnage", "schema", "--check", "schema"]
    ended = subprocess.run(
        ["sh", "-c", 'ulimit -f 0; exec "$@"', "sh", *command],
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert ended.returncode == 3
    assert "the engine cannot write its schemas: " in ended.stderr
    assert "set `TMPDIR` to another directory" in ended.stderr
    assert "Traceback" not in ended.stderr
