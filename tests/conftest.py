"""What holds for every test."""

from __future__ import annotations

import signal
from collections.abc import Iterator

import pytest
from hypothesis import settings

# A busy machine is no defect of what is tested: examples may take their time.
settings.register_profile("dunnage", deadline=None)
settings.load_profile("dunnage")


@pytest.fixture(autouse=True)
def _hearing() -> Iterator[None]:
    """The command is deaf at its end, as its process ends with it; these tests go on."""
    before = signal.getsignal(signal.SIGINT)
    yield
    signal.signal(signal.SIGINT, before)
