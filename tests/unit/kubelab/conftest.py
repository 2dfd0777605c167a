"""Modules, tools and a place for what is built."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest
from played_go import DPKG_DEB, MODULES, SUMS, program

from dunnage.software import kubernetes
from dunnage.software.cache import Cache
from dunnage.software.trees import DebianSoftware


@pytest.fixture
def source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A `kubelab/` of a few lines."""
    directory = tmp_path / "kubelab"
    directory.mkdir()
    (directory / "go.mod").write_text(MODULES)
    (directory / "go.sum").write_text(SUMS)
    monkeypatch.setattr(kubernetes, "SOURCE", directory)
    return directory


@pytest.fixture
def tools(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory of programs that is all of PATH, so that no other Go is found."""
    directory = tmp_path / "tools"
    packages = 'shift 6; for name; do echo "$name" > "${name}_1.0-1_amd64.deb"; done'
    program(directory, "apt-get", packages)
    program(directory, "dpkg-deb", DPKG_DEB)
    program(directory, "unshare", "exit 0")
    program(directory, "gcc", "exit 0")
    for name in ("cat", "chmod", "ln", "mkdir", "rm", "sh", "sleep", "touch"):
        found = shutil.which(name)
        assert found
        (directory / name).symlink_to(found)
    monkeypatch.setenv("PATH", str(directory))
    monkeypatch.setattr(sys, "prefix", str(tmp_path / "venv"))
    return directory


@pytest.fixture
def store(tmp_path: Path) -> DebianSoftware:
    return DebianSoftware(Cache(tmp_path / "cache"))
