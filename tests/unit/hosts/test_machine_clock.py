"""Whoever sets the machine's clock changes nothing of what we go by, and is noticed."""

from __future__ import annotations

import time

import pytest

from dunnage.hosts.machine_clock import MachineClock


@pytest.mark.parametrize("moved", [-3600.0, -0.5, 0.0, 7.25])
def test_a_machine_whose_clock_is_set_shows_it_as_an_offset_and_nothing_else(
    monkeypatch: pytest.MonkeyPatch, moved: float
) -> None:
    wall, even = [1_000_000.0], [50.0]
    monkeypatch.setattr(time, "time", lambda: wall[0])
    monkeypatch.setattr(time, "monotonic", lambda: even[0])
    clock = MachineClock()
    assert (clock.now(), clock.offset()) == (1_000_000.0, 0.0)
    wall[0] += 10.0 + moved
    even[0] += 10.0
    assert clock.now() == 1_000_010.0
    assert clock.offset() == moved
