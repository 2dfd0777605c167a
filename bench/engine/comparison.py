"""A comparison of clients on a database of whole records, from its clients to its section."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dunnage.model.layout import Target

from . import core, first, ours, ycsb_client
from .asked import Place
from .bench import Bench
from .contenders import Contender, Run, in_all_loads
from .core import COMPARED, Core, CoreAsked
from .shots import Shot
from .table import Section
from .warmed import NOTE as WARMED_NOTE
from .warmed import TURNS
from .ycsb_client import YCSB, Binding

_WARM = (
    "The server runs in Java. Before the turns of a load each client makes it uncounted, so "
    "that nobody pays for the server's warm-up."
)
_TAKEN = (
    "The engine counts the records of an answer and takes no field out of it. YCSB takes out each."
)
_IN_JAVA = (
    f"Those clients take {TURNS} turns at most, in turns with the engine alone; all others take "
    "theirs before. Their ratios are of those turns, and the engine's CPU per operation is that of "
    "the turns before, so they are not quotients of what is shown."
)


@dataclass(frozen=True)
class Comparison:
    """What is compared, on which database, and what is to be reached."""

    target: Target
    """What the engine drives."""
    clients: int
    goals: Mapping[str, float]
    """Client → what the engine's CPU per operation is to be at most, as a share of the client's."""
    binding: Binding
    """By which YCSB reaches the database."""

    def plan(self, asked: CoreAsked) -> dict[str, Any]:
        """What the engine is asked for."""
        return core.plan(asked, self.target)

    def engine(self, bench: Bench, place: Place) -> Run:
        """How the engine does what it is asked for."""

        def run(asked: CoreAsked) -> Shot:
            return ours.shot(bench.engine, self.plan(asked), place, bench.scratch)

        return run

    def section(
        self,
        bench: Bench,
        title: str,
        place: Place,
        contenders: Sequence[Contender],
        absent: Sequence[str],
        notes: Sequence[str],
        pairs: int,
        operations: int,
    ) -> Section:
        """All loads, each by all clients in turns on a server that answers, and how soon the engine
        is at work there. `absent` and `notes` are sentences: of clients that are not there, and of
        what else a reader must know. Raises SystemExit when a client fails, or did other than it
        was asked for."""
        taken = in_all_loads(
            contenders,
            self.clients,
            operations,
            pairs,
            self.goals,
            lambda said: bench.tell(f"{title}: {said}"),
        )
        few = CoreAsked(Core.C, self.clients, self.clients)
        seconds = first.taken(bench, self.plan(few), place, pairs)
        said = [COMPARED, _WARM, *notes]
        if YCSB.name in {each.name for each in contenders}:
            said += [_TAKEN, ycsb_client.note(YCSB.program(bench.environment), self.binding)]
        if taken.warm_ups:
            said.append(" ".join([WARMED_NOTE, _IN_JAVA, *taken.warm_ups]))
        said.append(first.note(self.clients, seconds))
        return Section(title, said, taken.lines, absent, operations)
