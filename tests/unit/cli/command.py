"""The command line inside this process: what it shows and how it ends."""

from __future__ import annotations

import signal
import sys
from dataclasses import dataclass

import pytest

from dunnage.cli.main import main
from dunnage.cli.shared.terminal import err, out


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

    def __call__(self, *words: object) -> Shown:
        self._monkeypatch.setattr(err, "commands", False)  # each command is a process of its own
        self._monkeypatch.setattr(sys, "argv", ["dunnage", *map(str, words)])
        hearing = signal.getsignal(signal.SIGINT)
        with pytest.raises(SystemExit) as ended:
            main()
        signal.signal(signal.SIGINT, hearing)  # it is deaf at its end, as its process ends with it
        captured = self._capsys.readouterr()
        assert isinstance(ended.value.code, int)
        return Shown(ended.value.code, captured.out, captured.err)
