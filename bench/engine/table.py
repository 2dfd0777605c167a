"""Ratios of clients that took turns, and the table that shows them."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from .shots import Shot
from .verdict import Ends, interval, verdict

ENGINE = "engine"
"""The client that all others are compared with."""
_HEAD = (
    "load",
    "client",
    "CPU per operation",
    "CPU: engine / client",
    "goal",
    "throughput: engine / client",
)
_RIGHT = (False, False, True, True, True, True)


@dataclass(frozen=True)
class Ratio:
    """Median, lowest and highest of the ratios within pairs, and the interval of their mean, if
    there are enough."""

    median: float
    low: float
    high: float
    interval: Ends | None = None

    def __str__(self) -> str:
        return f"{self.median:.2f} ({self.low:.2f}–{self.high:.2f})"


@dataclass(frozen=True)
class Line:
    """One client under one load: its median CPU seconds per operation, and the engine against it.

    The engine's own line has no ratios.
    """

    load: str
    client: str
    cpu: float
    cpu_ratio: Ratio | None = None
    throughput_ratio: Ratio | None = None
    goal: float | None = None
    """What the ratio of CPU is to be at most."""


@dataclass(frozen=True)
class Section:
    """What was compared on one database."""

    title: str
    notes: Sequence[str]
    lines: Sequence[Line]
    missing: Sequence[str]
    """A sentence for each peer that was not there."""
    operations: int
    """Of each client in its turn."""


def ratio(ours: Sequence[float], theirs: Sequence[float]) -> Ratio:
    """Of values in pairs. Raises ValueError when one lacks its partner, or there are none."""
    within = [one / other for one, other in zip(ours, theirs, strict=True)]
    return Ratio(statistics.median(within), min(within), max(within), interval(within))


def lines(load: str, taken: Mapping[str, Sequence[Shot]], goals: Mapping[str, float]) -> list[Line]:
    """The engine's line, and one for each other client. Raises KeyError for a goal without its
    client."""
    unmet = goals.keys() - taken.keys()
    if unmet:
        raise KeyError(f"no client for the goals {sorted(unmet)}")
    ours = taken[ENGINE]

    def line(client: str, shots: Sequence[Shot]) -> Line:
        cpu = statistics.median(shot.cpu_per_operation for shot in shots)
        if client == ENGINE:
            return Line(load, client, cpu)
        return Line(
            load,
            client,
            cpu,
            ratio(
                [shot.cpu_per_operation for shot in ours],
                [shot.cpu_per_operation for shot in shots],
            ),
            ratio([shot.throughput for shot in ours], [shot.throughput for shot in shots]),
            goals.get(client),
        )

    return [
        line(client, taken[client]) for client in sorted(taken, key=lambda name: name != ENGINE)
    ]


def markdown(section: Section, turns: int) -> str:
    """The section as Markdown: title, notes, table of so many turns of each client, and the peers
    that were missing."""
    rows = [_row(_HEAD), _row(["--:" if right else ":--" for right in _RIGHT])]
    rows += [_row(_cells(line)) for line in section.lines]
    turn = f"Each client takes {turns} turns of {section.operations:,} operations."
    parts = [f"## {section.title}", *section.notes, turn, "\n".join(rows)]
    if section.missing:
        parts.append("\n".join(f"- {sentence}" for sentence in section.missing))
    return "\n\n".join(parts) + "\n"


def _cells(line: Line) -> list[str]:
    cpu = "" if line.cpu_ratio is None else str(line.cpu_ratio)
    throughput = "" if line.throughput_ratio is None else str(line.throughput_ratio)
    return [line.load, line.client, f"{line.cpu * 1e6:.2f} µs", cpu, _goal(line), throughput]


def _goal(line: Line) -> str:
    """The verdict is that of the numbers that are shown."""
    if line.goal is None or line.cpu_ratio is None:
        return ""
    if line.cpu_ratio.interval is None:
        return f"≤ {line.goal:g}: {verdict(None, line.goal)}"
    low, high = (round(each, 2) for each in line.cpu_ratio.interval)
    return f"≤ {line.goal:g}: {verdict((low, high), line.goal)} ({low:.2f}–{high:.2f})"


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"
