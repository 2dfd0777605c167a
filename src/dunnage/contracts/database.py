"""What is deployed: what the runner asks of a database."""

from __future__ import annotations

from typing import ClassVar, Protocol, runtime_checkable

from dunnage.model.layout import Layout, Reservation, Snapshot, Stage, Step, Target
from dunnage.model.offer import DatabaseOffer
from dunnage.model.study import DatabaseSpec


class Database(Protocol):
    """What is deployed. Everything here is pure: data out, output parsed."""

    offer: ClassVar[DatabaseOffer]

    def layout(self, spec: DatabaseSpec) -> Layout: ...

    def stages(self, spec: DatabaseSpec, reservation: Reservation) -> tuple[Stage, ...]:
        """What to start and what to run when it is ready, in order."""

    def facts(self, spec: DatabaseSpec, reservation: Reservation) -> tuple[Step, ...]:
        """How to ask the servers for version, topology, consistency and settings in force."""

    def reset(self, spec: DatabaseSpec, reservation: Reservation) -> tuple[Step, ...]:
        """How to get back to an empty database."""

    def settle(self, spec: DatabaseSpec, reservation: Reservation) -> tuple[Step, ...]:
        """What must be over before a measured run: copies caught up, no background work.

        One step's facts hold `data_size`, the bytes of data in the database.
        """

    def target(self, spec: DatabaseSpec, reservation: Reservation) -> Target: ...


@runtime_checkable
class HasSnapshot(Protocol):
    """A database whose records lie in files that the members of another stay can start with."""

    def snapshot(self, spec: DatabaseSpec, reservation: Reservation) -> Snapshot:
        """Which files those are, and the steps that make them hold all records. Pure."""
