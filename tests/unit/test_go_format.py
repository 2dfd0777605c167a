"""`make go-format`: only what `gofmt` itself names is not formatted."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def program(file: Path, script: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(f"#!/bin/sh\n{script}\n")
    file.chmod(0o755)


@pytest.mark.parametrize(
    ("go", "gofmt", "told"),
    [
        ('[ "$GOTOOLCHAIN ${PWD##*/}" = "local kubelab" ] && echo {}', "exit 0", ""),
        ("echo {}", "echo kubelab/x.go", "not formatted: kubelab/x.go; type: make format\n"),
        ("echo {}", "exit 2", "gofmt does not run; type: cd kubelab && "),
        ("exit 1", "exit 0", "gofmt does not run; type: cd kubelab && "),
    ],
)
def test_only_what_gofmt_names_is_not_formatted(
    go: str, gofmt: str, told: str, tmp_path: Path
) -> None:
    program(tmp_path / "tools/go", go.replace("{}", str(tmp_path / "root")))
    program(tmp_path / "root/bin/gofmt", gofmt)
    (tmp_path / "kubelab").mkdir()
    (tmp_path / ".venv").mkdir()
    (tmp_path / ".venv/.go-tools").touch()
    done = subprocess.run(
        ["make", "-s", "-f", str(ROOT / "Makefile"), "-o", ".venv/.go-tools", "go-format"],
        cwd=tmp_path,
        env={**os.environ, "PATH": f"{tmp_path}/tools:{os.environ['PATH']}", "GOTOOLCHAIN": "auto"},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode == 0) is (told == "")
    assert told in done.stderr
    assert ("not formatted" in done.stderr) is told.startswith("not formatted")
