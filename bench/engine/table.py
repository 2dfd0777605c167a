"""Ratios of clients that took turns, and the table that shows them."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from .shots import Shot
from .verdict import NOT_SETTLED, REACHED, Ends, interval, mean, shown, verdict

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


@dataclass(frozen=True)
class Ratio:
    """Geometric mean of the ratios within pairs, and its interval, if there are enough."""

    mean: float
    interval: Ends | None = None

    def shown(self, goal: float | None = None) -> str:
        """The mean and its interval, so precise that one sees how it stands to the goal."""
        return shown(self.mean, self.interval, goal)


@dataclass(frozen=True)
class Line:
    """One client under one load: its CPU seconds per operation, and the engine against it.

    The engine's own line has no ratios.
    """

    load: str
    client: str
    cpu: float
    cpu_ratio: Ratio | None = None
    throughput_ratio: Ratio | None = None
    goal: float | None = None
    """What the ratio of CPU is to be at most."""
    warm: bool = True
    """Whether the client was as fast as it becomes; one that was not flatters the engine."""


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
    return Ratio(mean(within), interval(within))


def lines(
    load: str,
    taken: Mapping[str, Sequence[Shot]],
    goals: Mapping[str, float],
    cold: Collection[str] = (),
) -> list[Line]:
    """The engine's line, and one for each other client. `cold`: clients that were still becoming
    faster. Raises KeyError for a goal without its client."""
    unmet = goals.keys() - taken.keys()
    if unmet:
        raise KeyError(f"no client for the goals {sorted(unmet)}")
    ours = taken[ENGINE]

    def line(client: str, shots: Sequence[Shot]) -> Line:
        cpu = mean([shot.cpu_per_operation for shot in shots])
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
            client not in cold,
        )

    return [
        line(client, taken[client]) for client in sorted(taken, key=lambda name: name != ENGINE)
    ]


def markdown(section: Section, turns: int) -> str:
    """The section as Markdown: title, notes, table of so many turns of each client, and the peers
    that were missing."""
    table = grid(_HEAD, [_cells(line) for line in section.lines], 2)
    turn = (
        f"Each client takes {turns} turns of {section.operations:,} operations, where nothing else "
        "is said."
    )
    parts = [f"## {section.title}", *section.notes, turn, table]
    if section.missing:
        parts.append("\n".join(f"- {sentence}" for sentence in section.missing))
    return "\n\n".join(parts) + "\n"


def _cells(line: Line) -> list[str]:
    cpu = "" if line.cpu_ratio is None else line.cpu_ratio.shown(line.goal)
    throughput = "" if line.throughput_ratio is None else line.throughput_ratio.shown()
    goal = ""
    if line.cpu_ratio is not None and line.goal is not None:
        goal = judged(line.cpu_ratio, line.goal, warm=line.warm)
    return [line.load, line.client, f"{line.cpu * 1e6:.2f} µs", cpu, goal, throughput]


def judged(found: Ratio, goal: float, *, warm: bool = True) -> str:
    """A goal, and whether a ratio reaches it, which a client that was not warm does not settle."""
    said = verdict(found.interval, goal)
    if said == REACHED and not warm:
        said = f"{NOT_SETTLED}, as the client was still becoming faster"
    return f"≤ {goal:g}: {said}"


def grid(head: Sequence[str], rows: Sequence[Sequence[str]], left: int) -> str:
    """A table in Markdown. The first `left` columns begin at the left, the others end at the
    right."""
    edges = [":--" if number < left else "--:" for number in range(len(head))]
    return "\n".join(f"| {' | '.join(row)} |" for row in (head, edges, *rows))
