"""What holds for every test."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

# A busy machine is no defect of what is tested: examples may take their time.
settings.register_profile("dunnage", deadline=None)
settings.load_profile("dunnage")

# As in a shell in which `.venv/bin/activate` was typed: `dunnage` is found.
os.environ["PATH"] = f"{Path(sys.executable).parent}:{os.environ['PATH']}"


@pytest.fixture(autouse=True)
def _hearing() -> Iterator[None]:
    """The command is deaf at its end, as its process ends with it; these tests go on."""
    before = signal.getsignal(signal.SIGINT)
    yield
    signal.signal(signal.SIGINT, before)
