"""Clients of a database of whole records: each does what it is asked, in turns with the others."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from .bench import Client
from .core import Core, CoreAsked, filling
from .shots import Shot, in_turns
from .table import Line, lines
from .warmed import warmed

Run = Callable[[CoreAsked], Shot]
"""Has a client do once what it is asked for."""


@dataclass(frozen=True)
class Counts:
    """Operations that a server carried out since it started, by its own account."""

    reads: int
    writes: int

    def since(self, before: Counts) -> Counts:
        """Those after an earlier account."""
        return Counts(self.reads - before.reads, self.writes - before.writes)


@dataclass(frozen=True)
class Contender:
    """A client under its name."""

    name: str
    run: Run
    java: bool = False
    """Whether it becomes fast only after a warm-up."""

    def client(self, asked: CoreAsked) -> Client:
        """What takes its turn."""
        if not self.java:
            return partial(self.run, asked)
        return partial(
            warmed,
            lambda operations: self.run(replace(asked, operations=operations)),
            asked.operations,
        )


def confirmed(name: str, run: Run, counts: Callable[[], Counts], asked: CoreAsked) -> Shot:
    """A run whose operations the server counted too. Raises SystemExit when the client carried out
    others than it was asked for."""
    before = counts()
    shot = run(asked)
    counted = counts().since(before)
    if shot.operations != asked.operations or not asked.fits(counted.reads, counted.writes):
        raise SystemExit(
            f"{name}, {asked.title}: {asked.operations} were asked for, it tells "
            f"{shot.operations}, and the server {counted.reads} reads and {counted.writes} writes"
        )
    return shot


def in_all_loads(
    contenders: Sequence[Contender],
    clients: int,
    operations: int,
    pairs: int,
    goals: Mapping[str, float],
    tell: Callable[[str], None],
) -> list[Line]:
    """Each load of `Core` by all clients in turns, `pairs` times, when each has put all records in.
    Before its turns each makes the load once uncounted: the servers run in Java and become fast
    with what they are asked for, so whoever went first would pay for all. `goals`: client → the
    highest share, for those that are there."""
    there = {each.name for each in contenders}
    reachable = {name: goal for name, goal in goals.items() if name in there}

    def turns(core: Core) -> list[Line]:
        asked = CoreAsked(core, clients, operations)
        tell(asked.title)
        for each in contenders:
            each.run(asked)
        taken = in_turns({each.name: each.client(asked) for each in contenders}, pairs)
        return lines(asked.title, taken, reachable)

    def fill() -> None:
        for each in contenders:
            each.run(filling(clients))

    fill()
    rows = turns(Core.LOAD)
    fill()
    return rows + turns(Core.A) + turns(Core.C)
