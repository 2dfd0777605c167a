"""What every client of a database of whole records is asked for, by YCSB's names."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from dunnage.model.choices import Phase
from dunnage.model.layout import Target

from . import ours
from .shape import FIELD_BYTES, FIELDS, RECORDS


class Core(StrEnum):
    """A load of YCSB, but for two things: all records are equally likely, as every client can have
    it, and an update writes the whole record, as cassandra-stress has it."""

    LOAD = "load"
    A = "A"
    C = "C"


_WORDS = {Core.LOAD: "inserts", Core.A: "half reads, half updates", Core.C: "reads"}
COMPARED = (
    f"Each of {RECORDS:,} records has {FIELDS} fields of {FIELD_BYTES} bytes. An operation reads "
    "or writes a whole one, with values that nobody can foresee, all records equally likely. "
    "*load* inserts as many records as there are operations."
)
"""What all clients read and wrote, for a reader."""


@dataclass(frozen=True)
class CoreAsked:
    """So many operations of one load, by clients that each have one in flight."""

    core: Core
    clients: int
    operations: int

    @property
    def title(self) -> str:
        """As in `C (reads), 64 clients`."""
        return f"{self.core} ({_WORDS[self.core]}), {self.clients} clients"

    @property
    def records(self) -> int:
        """How many the operations are for."""
        return self.operations if self.core is Core.LOAD else RECORDS

    def fits(self, reads: int, writes: int) -> bool:
        """Whether a server that counted so many did what was asked for."""
        kinds = {
            Core.LOAD: reads == 0,
            Core.A: 0.4 < reads / (reads + writes or 1) < 0.6 or self.operations < _MANY,
            Core.C: writes == 0,
        }
        return reads + writes == self.operations and kinds[self.core]


_MANY = 1000
"""So many operations at least are half reads, half updates to a tenth, whatever chance does."""


def filling(clients: int) -> CoreAsked:
    """What puts all records in that are read and updated later."""
    return CoreAsked(Core.LOAD, clients, RECORDS)


def plan(asked: CoreAsked, target: Target) -> dict[str, Any]:
    """The same for the engine."""
    if asked.core is Core.LOAD:
        return ours.plan_of("C", Phase.LOAD, target, asked.clients, records=asked.records)
    return ours.plan_of(asked.core, Phase.RUN, target, asked.clients, asked.operations)
