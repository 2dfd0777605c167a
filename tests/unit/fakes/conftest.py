"""Fleets for the tests of the fakes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack

import pytest
from fleet import Fleets


@pytest.fixture
def fleets() -> Iterator[Fleets]:
    with ExitStack() as stack:
        yield Fleets(stack)
