"""How soon the engine is at work: from the start of its process to its first operation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from . import ours
from .asked import Place
from .bench import Bench
from .verdict import interval, mean, shown, verdict

GOAL = 0.1
"""Seconds, connections to the server included."""


def taken(bench: Bench, content: Mapping[str, Any], place: Place, times: int) -> list[float]:
    """Seconds until the engine is at work on a plan, each time it is started anew."""
    return [ours.first(bench.engine, content, place, bench.scratch) for _ in range(times)]


def note(connections: int, seconds: Sequence[float]) -> str:
    """One sentence of how long it took, each time it was started anew."""
    thousandths = [each * 1e3 for each in seconds]
    ends, goal = interval(thousandths), GOAL * 1e3
    took = shown(mean(thousandths), ends, goal, 0)
    return (
        f"From the start of the engine's process to its first operation, {connections} connections "
        f"included, it took {took} ms; goal: at most {goal:.0f} ms: {verdict(ends, goal)}. The "
        "kernel tells the start of a process to 10 ms."
    )
