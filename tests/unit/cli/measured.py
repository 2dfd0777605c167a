"""A result of a study with fakes, made by the real command."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from dunnage.store.read import open_result


def measured(study: str, directory: Path) -> Path:
    """Carry out the text of a study in a directory; returns where its result lies."""
    (directory / "study.yaml").write_text(study)
    command = [sys.executable, "-m", "dunnage", "run", "study.yaml"]
    subprocess.run(command, cwd=directory, check=True, capture_output=True, timeout=120)
    return open_result(directory / "results").layout.root
