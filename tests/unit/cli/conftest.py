"""The command line for the tests beside this."""

from __future__ import annotations

import pytest
from command import Command


@pytest.fixture
def dunnage(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Command:
    return Command(monkeypatch, capsys)
