"""How soon the engine is at work, in a sentence."""

from __future__ import annotations

import pytest
from engine.first import note


@pytest.mark.parametrize(
    ("seconds", "told"),
    [
        ([0.02, 0.03, 0.2], "30 ms (20–200); goal: below 100 ms: reached"),
        ([0.15], "150 ms (150–150); goal: below 100 ms: missed"),
    ],
)
def test_the_median_decides_whether_the_goal_is_reached(seconds: list[float], told: str) -> None:
    assert told in note(32, seconds)
    assert "32 connections" in note(32, seconds)
