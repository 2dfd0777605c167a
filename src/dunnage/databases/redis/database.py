"""Redis as a database to deploy: pure data out, output parsed."""

from __future__ import annotations

from typing import ClassVar

from dunnage.databases.redis import demand, steps
from dunnage.databases.redis.configuration import render
from dunnage.model.layout import (
    Layout,
    Place,
    Probe,
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

SOFTWARE = Capability("software")
PORT, BUS_PORT = 6379, 16379
"""Of the first member; each further one counts up, so that members can share a host."""


class Redis:
    """Topologies `single`, `replicas` (the first is primary) and `cluster` (three primaries)."""

    offer: ClassVar[DatabaseOffer] = DatabaseOffer(
        versions=demand.VERSIONS,
        topologies=demand.TOPOLOGIES,
        name="Redis",
        check=demand.check,
        check_restore=demand.check_restore,
        begin_with=("replicas", "one primary and two replicas"),
        needs=(SOFTWARE,),
    )

    def layout(self, spec: DatabaseSpec) -> Layout:
        """Members `redis-1`, …; in a cluster they have a port for its bus besides."""
        return Layout(tuple(_seat(spec, i) for i in range(spec.members)), _software(spec))

    def stages(self, spec: DatabaseSpec, reservation: Reservation) -> tuple[Stage, ...]:
        """Primary, then replicas; or all members of a cluster, then its formation."""
        places = reservation.places
        kind = demand.topology(spec)
        services = tuple(_service(spec, place, places[0]) for place in places)
        if kind == "cluster":
            forming = steps.form(places, demand.primaries(spec))
            return Stage("members", services), Stage("formation", steps=forming)
        if kind == "single":
            return (Stage("server", services),)
        caught_up = (
            *(steps.follow(place) for place in places[1:]),
            steps.catch_up(places[0], len(places) - 1),
        )
        return Stage("primary", services[:1]), Stage("replicas", services[1:], caught_up)

    def facts(self, spec: DatabaseSpec, reservation: Reservation) -> tuple[Step, ...]:
        """`INFO` and `CONFIG GET` of every member, as `redis-1.role` and so on."""
        cluster = demand.topology(spec) == "cluster"
        return tuple(
            step for place in reservation.places for step in steps.ask(place, cluster=cluster)
        )

    def reset(self, spec: DatabaseSpec, reservation: Reservation) -> tuple[Step, ...]:
        """Flush every primary; replicas follow."""
        return tuple(steps.flush(place) for place in _primaries(spec, reservation))

    def settle(self, spec: DatabaseSpec, reservation: Reservation) -> tuple[Step, ...]:
        """Replicas have every write, nobody saves; `data_size` is `used_memory_dataset`."""
        primaries = _primaries(spec, reservation)
        return (
            *(steps.catch_up(place, demand.copies(spec)) for place in primaries),
            *(steps.rest(place) for place in reservation.places),
            steps.size(primaries[0], cluster=demand.topology(spec) == "cluster"),
        )

    def target(self, spec: DatabaseSpec, reservation: Reservation) -> Target:
        """Every member's contact; option `wait` is what a write waits for."""
        return Target(
            driver="redis",
            topology=demand.topology(spec),
            addresses=reservation.contacts("redis"),
            endpoint=reservation.endpoint("redis"),
            options={"wait": demand.acknowledgements(spec)},
        )

    def snapshot(self, spec: DatabaseSpec, reservation: Reservation) -> Snapshot:
        """The primary's RDB file; replicas get its records as they follow it, as in every stay.

        Their own files would be thrown away where offsets differ by as little as a ping, so that
        one stay would start in another way than the next.
        """
        primary = reservation.places[0]
        return Snapshot(
            files={primary.member: (demand.dump(spec),)}, complete=(steps.save(primary),)
        )


def _software(spec: DatabaseSpec) -> Software:
    return Software("redis", spec.version or demand.VERSIONS[0], spec.image)


def _primaries(spec: DatabaseSpec, reservation: Reservation) -> tuple[Place, ...]:
    return reservation.places[: demand.primaries(spec)]


def _seat(spec: DatabaseSpec, index: int) -> Seat:
    ports = {"redis": PORT + index}
    if demand.topology(spec) == "cluster":
        ports["bus"] = BUS_PORT + index
    role = "primary" if index < demand.primaries(spec) else "replica"
    return Seat(f"redis-{index + 1}", role, index, ports)


def _service(spec: DatabaseSpec, place: Place, primary: Place) -> Service:
    file = f"{place.home}/redis.conf"
    return Service(
        member=place.member,
        argv=(f"{place.prefix}/bin/redis-server", file),
        ready=Probe(steps.command(place, "PING"), expect="PONG"),
        software=_software(spec),
        files={file: render(spec, place, primary)},
        # A locale would make the native server map files that an image does not have.
        env={"LC_ALL": "C"},
    )
