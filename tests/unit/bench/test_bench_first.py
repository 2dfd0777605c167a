"""How soon the engine is at work, in a sentence."""

from __future__ import annotations

import pytest
from engine.first import note


@pytest.mark.parametrize(
    ("seconds", "told"),
    [
        ([0.02, 0.03, 0.03, 0.03, 0.03, 0.12], "35 (18–68) ms; goal: at most 100 ms: reached"),
        ([0.02, 0.03, 0.2, 0.2, 0.3, 0.3], "114 (32–405) ms; goal: at most 100 ms: not settled"),
        ([0.15, 0.15, 0.16, 0.16, 0.17, 0.17], "160 (151–169) ms; goal: at most 100 ms: missed"),
        ([0.03], "30 ms; goal: at most 100 ms: not settled"),
    ],
)
def test_the_goal_is_reached_or_missed_where_all_starts_together_say_so(
    seconds: list[float], told: str
) -> None:
    assert told in note(32, seconds)
    assert "32 connections" in note(32, seconds)
