"""Carries out stages one after the other, and names everything at the end."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection
from pathlib import Path

from gate.carry import Carried, carry_out, interrupted
from gate.closing import closing, failures, stage_line
from gate.outcome import State, Told
from gate.processes import adopt_orphans
from gate.progress import Progress
from gate.stages import Stage

LOGS = Path("target/gate")


def prepare() -> None:
    """Make this process one that carries out stages."""
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # hundreds of commands load the same modules
    os.environ.pop("PYTEST_ADDOPTS", None)  # might leave tests out
    adopt_orphans()
    LOGS.mkdir(parents=True, exist_ok=True)


class Tier:
    """The stages that were carried out by now; each is told of as soon as it ends."""

    def __init__(self) -> None:
        prepare()
        self.carried: list[Carried] = []

    def carry_out(self, stage: Stage, of: int, hear: Callable[[Told], None] | None = None) -> Told:
        """Carry out the next of so many stages; returns what its tests told.

        `hear` is called with that again and again. An interrupted gate tells what it knows by then.
        """
        place = len(self.carried) + 1
        progress = Progress(place, of, stage)

        def look(told: Told) -> None:
            if hear:
                hear(told)
            progress(told)

        try:
            self.carried.append(carry_out(stage, LOGS, look))
        except KeyboardInterrupt:
            progress.clear()
            self.carried.append(interrupted(stage, LOGS, progress.told))
            print("\n".join(closing(self.carried)))
            raise
        progress.clear()
        print(stage_line(place, of, self.carried[-1]))
        print("".join(f"{line}\n" for line in failures(self.carried[-1])), end="", flush=True)
        return progress.told

    def close(self, bad: Collection[State] = (State.FAILED,)) -> int:
        """Name everything; 1 when something is in a bad state, else 0."""
        print("\n".join(closing(self.carried)))
        return 1 if any(each.state in bad for one in self.carried for each in one.outcomes) else 0
