"""Cassandra as a database to deploy: pure data out, output parsed."""

from __future__ import annotations

from typing import ClassVar

from dunnage.databases.cassandra import demand, java, steps
from dunnage.databases.cassandra.configuration import LOGBACK, render
from dunnage.model.deployment import Guess
from dunnage.model.layout import (
    Layout,
    Reservation,
    Seat,
    Service,
    Snapshot,
    Software,
    Stage,
    Step,
    Target,
)
from dunnage.model.offer import Capability, DatabaseOffer
from dunnage.model.study import DatabaseSpec

CASSANDRA = Capability("cassandra")
PORTS = {"storage": java.FIRST_STORAGE, "cql": 9042}
"""The same on every host, as drivers expect of a ring; platforms move those that would collide."""


class Cassandra:
    """Topology `ring`: members that differ in nothing but their tokens; the first is the seed."""

    offer: ClassVar[DatabaseOffer] = DatabaseOffer(
        versions=demand.VERSIONS,
        topologies=demand.TOPOLOGIES,
        name="Cassandra",
        check=demand.check,
        images=False,
        begin_with=("ring", "three equal members, each with a copy of every record"),
        needs=(CASSANDRA,),
        check_restore=demand.check_restore,
        # Java starts in many seconds, and nodetool flushes every member before each run.
        guess=Guess(up=45.0, settling=8.0, loading=450.0),
    )

    def layout(self, spec: DatabaseSpec) -> Layout:
        """Members `cassandra-1`, …"""
        seats = (
            Seat(f"cassandra-{number}", "seed" if number == 1 else "member", number - 1, PORTS)
            for number in range(1, spec.members + 1)
        )
        return Layout(tuple(seats), _software(spec))

    def stages(self, spec: DatabaseSpec, reservation: Reservation) -> tuple[Stage, ...]:
        """The seed; then all others at once, which is safe as no token moves; then the table.

        A member that starts asks the seed who is there, so the seed must be up before.
        """
        places = reservation.places
        services = tuple(_service(spec, reservation, number) for number in range(len(places)))
        forming = (
            *(steps.know(place, [p for p in places if p is not place]) for place in places),
            steps.make_table(places[0], demand.copies(spec)),
            *(steps.agree(place, len(places)) for place in places),
            *(steps.empty(place) for place in places),
        )
        others = (Stage("members", services[1:]),) if len(services) > 1 else ()
        return Stage("seed", services[:1]), *others, Stage("table", steps=forming)

    def facts(self, spec: DatabaseSpec, reservation: Reservation) -> tuple[Step, ...]:
        """System tables and, by nodetool, the beans of Java of every member, as `cassandra-1.…`."""
        own = tuple(demand.server_settings(spec))
        return tuple(step for place in reservation.places for step in steps.ask(place, own))

    def reset(
        self,
        spec: DatabaseSpec,  # noqa: ARG002
        reservation: Reservation,
    ) -> tuple[Step, ...]:
        """Truncate the table and wait until nobody compacts what is gone."""
        places = reservation.places
        return (steps.empty(places[0]), *(steps.rest(place) for place in places))

    def settle(self, spec: DatabaseSpec, reservation: Reservation) -> tuple[Step, ...]:
        """All data on disk, nobody flushes or compacts; `data_size` is one copy of the table.

        Every run so starts with empty memtables and a commit log without unwritten data. Otherwise
        one deployment would begin a run just before a flush and another just after it, and a run
        of a few seconds would measure that chance.
        """
        places = reservation.places
        return (
            *(steps.flush(place) for place in places),
            *(steps.rest(place) for place in places),
            steps.size(places[0], len(places), demand.copies(spec)),
        )

    def target(self, spec: DatabaseSpec, reservation: Reservation) -> Target:
        """Every member's contact; the driver finds the owners of a key among them."""
        return Target(
            driver="cassandra",
            topology="ring",
            addresses=reservation.contacts("cql"),
            endpoint=reservation.endpoint("cql"),
            options={
                "keyspace": steps.KEYSPACE,
                "table": steps.TABLE,
                "read_consistency": demand.read_level(spec),
                "write_consistency": demand.write_level(spec),
            },
            # A copy that a quorum did not wait for may miss a record, and reads at ONE would too.
            storing={"write_consistency": "ALL"},
        )

    def snapshot(
        self,
        spec: DatabaseSpec,  # noqa: ARG002
        reservation: Reservation,
    ) -> Snapshot:
        """The files of the table, and of nothing else: see `demand.check_restore`."""
        places = reservation.places
        return Snapshot(
            files={place.member: (steps.TABLE_FILES,) for place in places},
            adopt=steps.adopt(places),
            complete=tuple(steps.drain(place) for place in places),
        )


def _software(spec: DatabaseSpec) -> Software:
    return Software("cassandra", spec.version or demand.VERSIONS[0], spec.image)


def _service(spec: DatabaseSpec, reservation: Reservation, number: int) -> Service:
    seed, place = reservation.places[0], reservation.places[number]
    return Service(
        member=place.member,
        argv=java.server(place, demand.jvm(spec)),
        ready=steps.readiness(place),
        software=_software(spec),
        files={
            java.configuration(place): render(spec, place, number, seed),
            java.logging(place): LOGBACK,
        },
        env={"LC_ALL": "C"},
        # Its data goes with it, so nothing is gained by draining it first, which takes seconds.
        stop_signal="KILL",
    )
