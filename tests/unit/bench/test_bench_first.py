"""How soon the engine is at work, in a sentence."""

from __future__ import annotations

import pytest
from engine.first import note


@pytest.mark.parametrize(
    ("seconds", "told"),
    [
        ([0.02, 0.03, 0.03, 0.03, 0.03, 0.12], "30 ms (20–120); goal: at most 100 ms: reached"),
        ([0.02, 0.03, 0.2, 0.2, 0.3, 0.3], "200 ms (20–300); goal: at most 100 ms: not settled"),
        ([0.15, 0.15, 0.16, 0.16, 0.17, 0.17], "160 ms (150–170); goal: at most 100 ms: missed"),
        ([0.03], "30 ms (30–30); goal: at most 100 ms: not settled"),
    ],
)
def test_the_goal_is_reached_or_missed_where_all_starts_together_say_so(
    seconds: list[float], told: str
) -> None:
    assert told in note(32, seconds)
    assert "32 connections" in note(32, seconds)
