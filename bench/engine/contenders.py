"""Clients of a database of whole records: each does what it is asked, in turns with the others."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from .bench import Client
from .core import Core, CoreAsked, filling
from .shots import Shot, in_turns
from .table import ENGINE, Line, lines
from .warmed import TURNS, warm_up, warmed

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

    def ready(self, asked: CoreAsked) -> Ready:
        """Have it make the load uncounted, as often as it needs to become fast."""
        if not self.java:
            self.run(asked)
            return Ready(partial(self.run, asked))

        def run(operations: int) -> Shot:
            return self.run(replace(asked, operations=operations))

        long = warm_up(run, asked.operations)
        said = f"{self.name}, {asked.core}: a warm-up of {long}."
        return Ready(partial(warmed, run, long.operations), said, long.settled)


@dataclass(frozen=True)
class Ready:
    """A client that may take its turns."""

    client: Client
    said: str = ""
    """A sentence on its warm-up, if it needs one of its own."""
    warm: bool = True
    """Whether it is as fast as it becomes."""


@dataclass(frozen=True)
class Taken:
    """What came of all turns."""

    lines: Sequence[Line]
    warm_ups: Sequence[str]
    """A sentence for each client that needs one, and each load."""


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
) -> Taken:
    """Each load of `Core` by all clients in turns, `pairs` times, when each has put all records in.
    Before its turns each makes the load uncounted: the servers run in Java and become fast with
    what they are asked for, so whoever went first would pay for all. A turn of a client in Java is
    long, so those take `TURNS` turns at most, beside as many of the engine. `goals`: client → the
    highest share, for those that are there."""
    there = {each.name for each in contenders}
    reachable = {name: goal for name, goal in goals.items() if name in there}
    warm_ups: list[str] = []

    def turns(core: Core) -> list[Line]:
        asked = CoreAsked(core, clients, operations)
        tell(asked.title)
        ready = {each.name: each.ready(asked) for each in contenders}
        warm_ups.extend(each.said for each in ready.values() if each.said)

        def by(java: bool, pairs: int) -> list[Line]:
            chosen = {each.name for each in contenders if each.java is java} | {ENGINE}
            if java and chosen == {ENGINE}:
                return []
            clients = {name: each.client for name, each in ready.items() if name in chosen}
            goals = {name: goal for name, goal in reachable.items() if name in chosen}
            cold = [name for name, each in ready.items() if not each.warm]
            return lines(asked.title, in_turns(clients, pairs), goals, cold)

        # The engine is at the head of both, and is shown once.
        return [*by(False, pairs), *by(True, min(pairs, TURNS))[1:]]

    def fill() -> None:
        for each in contenders:
            each.run(filling(clients))

    fill()
    rows = turns(Core.LOAD)
    fill()
    rows += turns(Core.A) + turns(Core.C)
    return Taken(rows, warm_ups)
