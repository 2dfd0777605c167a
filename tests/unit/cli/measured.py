"""A result of a study with fakes, made by the real command."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from dunnage.store.events import KEPT
from dunnage.store.layout import ResultLayout
from dunnage.store.read import open_result


def measured(study: str, directory: Path) -> Path:
    """Carry out the text of a study in a directory; returns where its result lies."""
    (directory / "study.yaml").write_text(study)
    command = [sys.executable, "-m", "dunnage", "run", "study.yaml"]
    subprocess.run(command, cwd=directory, check=True, capture_output=True, timeout=120)
    return open_result(directory / "results").layout.root


def without_checksums(result: Path) -> None:
    """Make it a result from before checksums, so that a test may change its files."""
    journal = ResultLayout(result).journal
    events = map(json.loads, journal.read_text().splitlines())
    older = (json.dumps({**event, "version": 1}) for event in events if event["event"] != KEPT)
    journal.write_text("".join(f"{line}\n" for line in older))
