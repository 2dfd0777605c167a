"""Results to damage, made once."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from damages import STUDY, Spot, carried_out


@pytest.fixture(scope="session")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A result as it was written."""
    return carried_out(STUDY, tmp_path_factory.mktemp("whole"))


@pytest.fixture(scope="session")
def later(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Another result of the same study."""
    return carried_out(STUDY, tmp_path_factory.mktemp("later"))


@pytest.fixture
def spot(whole: Path, tmp_path: Path) -> Spot:
    """A copy of the result, to be damaged."""
    root = tmp_path / whole.name
    shutil.copytree(whole, root)
    return Spot(root, sorted(path.name for path in (root / "runs").iterdir())[3])
