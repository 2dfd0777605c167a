"""A checkout in which commands were used passes what a clean one passes."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_results_that_a_study_left_are_no_package_to_the_linter(tmp_path: Path) -> None:
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    shutil.copytree(ROOT / "tests/unit/store", tmp_path / "tests/unit/store")
    (tmp_path / "src").symlink_to(ROOT / "src")
    (tmp_path / "results").mkdir()
    checked = subprocess.run(
        [sys.executable, "-m", "ruff", "check", "--no-cache", "tests"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert (tmp_path / "tests/unit/store/results.py").exists()
    assert checked.returncode == 0, checked.stdout
