"""The command line inside this process: what it shows and how it ends."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from dunnage.cli.shared.terminal import err, out
from dunnage.hosts import beside
from in_process import typed_here


@dataclass
class Shown:
    """Exit code, standard output, standard error."""

    code: int
    out: str
    err: str


class Command:
    """Types a command."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
        self._monkeypatch = monkeypatch
        self._capsys = capsys
        # The console may have been made where the environment named another width.
        monkeypatch.setattr(out, "_width", 100)
        # Another test run, or a study, may go on beside this one.
        monkeypatch.setattr(beside, "_SOCKETS", Path(os.devnull))

    def __call__(self, *words: object) -> Shown:
        self._monkeypatch.setattr(err, "commands", False)  # each command is a process of its own
        self._monkeypatch.setattr(out, "used", False)
        self._monkeypatch.setattr(sys, "argv", ["dunnage", *map(str, words)])
        with pytest.raises(SystemExit) as ended:
            typed_here()
        captured = self._capsys.readouterr()
        assert isinstance(ended.value.code, int)
        return Shown(ended.value.code, captured.out, captured.err)
