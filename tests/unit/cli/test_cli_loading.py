"""What takes long to load is loaded by who needs it only."""

from __future__ import annotations

import subprocess
import sys

import pytest

OF_DOCKER = {"docker", "requests"}
FRAMES = {"polars", "pyarrow", "matplotlib"}
OF_KUBERNETES = {"lightkube", "httpx2", "cryptography"}
"""Its client, what that speaks with, and what signs certificates."""

VERBS = """
import importlib, pkgutil, sys
import dunnage.cli
for each in pkgutil.walk_packages(dunnage.cli.__path__, "dunnage.cli."):
    importlib.import_module(each.name)
print(*sys.modules)
"""


def loaded(code: str) -> set[str]:
    """All modules that a Python has after some code that prints them."""
    ended = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True
    )
    return set(ended.stdout.split())


def test_the_command_line_starts_without_the_libraries_of_data_frames() -> None:
    found = loaded("import sys, dunnage, dunnage.cli.command_line; print(*sys.modules)")
    assert "dunnage.cli.command_line" in found
    assert not found & FRAMES


def test_every_verb_is_loaded_without_what_only_some_of_its_runs_need() -> None:
    found = loaded(VERBS)
    assert {"dunnage.catalog", "dunnage.runner.study", "dunnage.cli.doctor"} <= found
    assert not found & (FRAMES | OF_DOCKER | OF_KUBERNETES)


@pytest.mark.parametrize("kind", ["platforms.docker", "platforms.swarm", "substrates.existing"])
def test_what_stands_on_docker_loads_what_speaks_to_it(kind: str) -> None:
    assert loaded(f"import sys, dunnage.{kind}; print(*sys.modules)") >= OF_DOCKER


def test_a_kubernetes_loads_what_speaks_to_it() -> None:
    platform = "from dunnage.platforms.kubernetes.platform import Kubernetes"
    own = "from dunnage.substrates.kubernetes.own import open_kubernetes"
    found = loaded(f"import sys; {platform}; {own}; print(*sys.modules)")
    assert found >= OF_KUBERNETES
