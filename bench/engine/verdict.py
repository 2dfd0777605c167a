"""Whether a goal is reached, as far as turns tell."""

from __future__ import annotations

NOTE = "A goal is reached or missed where every turn says so; else it is not settled."


def verdict(low: float, high: float, goal: float) -> str:
    """Of the lowest and the highest value, of which all are to be at most `goal`."""
    if high <= goal:
        return "reached"
    return "missed" if low > goal else "not settled"
