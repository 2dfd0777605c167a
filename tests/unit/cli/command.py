"""The command line inside this process: what it shows and how it ends."""

from __future__ import annotations

import sys
from dataclasses import dataclass

import pytest

from dunnage.cli.main import main


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
        monkeypatch.setenv("COLUMNS", "100")

    def __call__(self, *words: object) -> Shown:
        self._monkeypatch.setattr(sys, "argv", ["dunnage", *map(str, words)])
        with pytest.raises(SystemExit) as ended:
            main()
        captured = self._capsys.readouterr()
        assert isinstance(ended.value.code, int)
        return Shown(ended.value.code, captured.out, captured.err)
