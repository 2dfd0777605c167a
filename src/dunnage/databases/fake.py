"""A database that is nowhere: one server, or shards with configuration servers and a router."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, ClassVar

from dunnage.model.layout import (
    Addresses,
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
from dunnage.model.offer import DatabaseOffer
from dunnage.model.study import DatabaseSpec

CONFIGURATION_SERVERS = 3
FIRST_PORT = 7000
PORT = "fake"
RECORDS = "records"
"""File below a server's data that tells how many records it holds."""


def _check(spec: DatabaseSpec) -> tuple[tuple[str, str], ...]:
    problems = []
    topology = spec.topology or "sharded"
    if topology == "single" and spec.members != 1:
        problems.append(("members", "topology `single` has exactly 1 member"))
    if topology == "single" and (spec.replication or 1) != 1:
        problems.append(("replication", "topology `single` keeps 1 copy"))
    return tuple(problems)


class FakeDatabase:
    """The contract's smallest complete implementation.

    `sharded`: three configuration servers form a replica set, `members` shards of `replication`
    copies do, and a router, which is all that clients are told of, gets the shards added.
    """

    offer: ClassVar[DatabaseOffer] = DatabaseOffer(
        versions=("1.0",),
        topologies=("sharded", "single"),
        name="the fake database",
        fake=True,
        check=_check,
        images=False,
        check_restore=lambda _: (),
    )

    def layout(self, spec: DatabaseSpec) -> Layout:
        roles = [("server-1", "server", 0)]
        if _topology(spec) == "sharded":
            roles = [
                *((f"config-{n + 1}", "config", n) for n in range(CONFIGURATION_SERVERS)),
                *(
                    (f"shard-{shard + 1}-{copy + 1}", f"shard-{shard + 1}", shard + copy)
                    for shard in range(spec.members)
                    for copy in range(spec.replication or 1)
                ),
                ("router-1", "router", 0),
            ]
        seats = tuple(
            Seat(member, role, slot, {PORT: FIRST_PORT + number})
            for number, (member, role, slot) in enumerate(roles)
        )
        return Layout(seats, _software(spec))

    def stages(self, spec: DatabaseSpec, reservation: Reservation) -> tuple[Stage, ...]:
        if _topology(spec) == "single":
            return (Stage("server", (_service(spec, reservation.places[0]),)),)
        configuration = reservation.role("config")
        shards = _shards(reservation)
        (router,) = reservation.role("router")
        return (
            Stage(
                "configuration servers",
                tuple(_service(spec, place) for place in configuration),
                _form("configuration", configuration),
            ),
            Stage(
                "shards",
                tuple(_service(spec, place) for places in shards.values() for place in places),
                tuple(step for name, places in shards.items() for step in _form(name, places)),
            ),
            Stage(
                "router",
                (_service(spec, router, configuration=[_peer(place) for place in configuration]),),
                tuple(
                    _ask(f"add {name}", router, "add-shard", name, *map(_peer, places), done=_ok)
                    for name, places in shards.items()
                ),
            ),
        )

    def facts(self, spec: DatabaseSpec, reservation: Reservation) -> tuple[Step, ...]:
        """Ask the server that clients use."""
        return (_ask("facts", _entry(spec, reservation), "facts", parse=json.loads),)

    def reset(self, spec: DatabaseSpec, reservation: Reservation) -> tuple[Step, ...]:
        """Empty it."""
        return (_ask("empty", _entry(spec, reservation), "empty", done=_ok),)

    def settle(self, spec: DatabaseSpec, reservation: Reservation) -> tuple[Step, ...]:
        """Count what is there; nothing of a fake goes on in the background."""
        return (_ask("count", _entry(spec, reservation), "count", parse=json.loads),)

    def target(self, spec: DatabaseSpec, reservation: Reservation) -> Target:
        """Clients begin at the router, or at the only server."""
        entry: Addresses = _entry(spec, reservation).ports[PORT]
        return Target(
            driver="fake",
            topology=_topology(spec),
            addresses=(entry.contact,),
            endpoint=frozenset({entry.contact, entry.advertised}),
            options={},
        )

    def snapshot(self, spec: DatabaseSpec, reservation: Reservation) -> Snapshot:
        """The one file that the server which clients use writes when it is told to."""
        entry = _entry(spec, reservation)
        return Snapshot(
            files={entry.member: (RECORDS,)},
            complete=(_ask("save", entry, "save", done=_ok),),
        )


def _topology(spec: DatabaseSpec) -> str:
    return spec.topology or FakeDatabase.offer.topologies[0]


def _software(spec: DatabaseSpec) -> Software:
    return Software("fake", spec.version or FakeDatabase.offer.versions[0])


def _shards(reservation: Reservation) -> Mapping[str, tuple[Place, ...]]:
    names = [place.role for place in reservation.places if place.role.startswith("shard-")]
    return {name: reservation.role(name) for name in dict.fromkeys(names)}


def _entry(spec: DatabaseSpec, reservation: Reservation) -> Place:
    role = "server" if _topology(spec) == "single" else "router"
    return reservation.role(role)[0]


def _peer(place: Place) -> str:
    return str(place.ports[PORT].peer)


def _service(spec: DatabaseSpec, place: Place, configuration: list[str] | None = None) -> Service:
    path = f"{place.home}/server.json"
    listen = str(place.ports[PORT].bind)
    config = {
        "member": place.member,
        "role": place.role,
        "listen": listen,
        "data": place.data,
        "records": f"{place.data}/{RECORDS}",
        "version": _software(spec).version,
        "topology": _topology(spec),
        "consistency": f"{spec.consistency.read or 'one'}/{spec.consistency.write or 'one'}",
        "settings": dict(spec.settings),
        "configuration": configuration or [],
    }
    return Service(
        member=place.member,
        argv=(f"{place.prefix}/bin/fake-server", "--config", path),
        ready=Probe((f"{place.prefix}/bin/fake-cli", "ping", listen), expect="PONG"),
        software=_software(spec),
        files={path: json.dumps(config, indent=1) + "\n"},
    )


def _form(name: str, places: tuple[Place, ...]) -> tuple[Step, ...]:
    """Make members a replica set and wait until it has a primary."""
    return (
        _ask(
            f"initiate {name}",
            places[0],
            "initiate",
            name,
            *map(_peer, places),
            done=lambda output: output.strip() in ("ok", "already initiated"),
        ),
        _ask(
            f"elect {name}",
            places[0],
            "status",
            done=lambda output: output.strip() == "primary",
            parse=lambda output: {f"{name}.state": output.strip()},
        ),
    )


def _ok(output: str) -> bool:
    return output.strip() == "ok"


def _ask(
    name: str,
    place: Place,
    verb: str,
    *rest: str,
    done: Callable[[str], bool] = lambda output: bool(output.strip()),
    parse: Callable[[str], Mapping[str, Any]] = lambda _: {},
) -> Step:
    argv = (f"{place.prefix}/bin/fake-cli", verb, str(place.ports[PORT].bind), *rest)
    return Step(name, place.member, argv, done=done, parse=parse)
