"""How soon the engine is at work: from the start of its process to its first operation."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from typing import Any

from . import ours
from .asked import Place
from .bench import Bench
from .verdict import interval, verdict

GOAL = 0.1
"""Seconds, connections to the server included."""


def taken(bench: Bench, content: Mapping[str, Any], place: Place, times: int) -> list[float]:
    """Seconds until the engine is at work on a plan, each time it is started anew."""
    return [ours.first(bench.engine, content, place, bench.scratch) for _ in range(times)]


def note(connections: int, seconds: Sequence[float]) -> str:
    """One sentence of how long it took, each time it was started anew."""
    median = statistics.median(seconds)
    settled = verdict(interval(seconds), GOAL)
    return (
        f"From the start of the engine's process to its first operation, {connections} connections "
        f"included: {median * 1e3:.0f} ms ({min(seconds) * 1e3:.0f}–{max(seconds) * 1e3:.0f}); "
        f"goal: at most {GOAL * 1e3:.0f} ms: {settled}. The kernel tells the start of a process to "
        "10 ms."
    )
