"""What a database wants to run, before and after addresses are known. Plain data.

A database says *what* in these words, a platform says *how*, a host says *where*.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from dunnage.model.late import fill, unfilled
from dunnage.model.port import PortNumbers, Ports

ENGINE = "@engine@"
"""First word of a probe's or a step's command that the host's own `dunnage-engine` carries out.

It runs in the network that its member has, but outside the member's container, which holds nothing
but the member's software; `localhost` is the member's own.
"""
LOOPBACK = "127.0.0.1"


@dataclass(frozen=True)
class Software:
    """What a member runs: a tree that is the same natively and in the image made of it.

    `image` names an image to use in containers instead; natively the tree is used all the same.
    """

    name: str
    version: str
    image: str | None = None


ENGINE_TREE = Software("engine", "built")
"""The engine's own binary, for the containers of clients: their image holds nothing else."""
ENGINE_PROGRAM = "bin/dunnage-engine"
"""The engine below the prefix of its tree."""


@dataclass(frozen=True)
class Seat:
    """One member's place as the database asks for it.

    `ports` names what it listens on, such as `{"redis": 6379, "bus": 16379}`. `slot` is the number
    of the host of the deployment's group, modulo the group's size.
    """

    member: str
    role: str
    slot: int
    ports: Mapping[str, int]


@dataclass(frozen=True)
class Layout:
    """All members of one database, and what they run."""

    seats: tuple[Seat, ...]
    software: Software


@dataclass(frozen=True)
class Address:
    """A host and a port. The host is an address, a name, or the placeholder of a late address."""

    host: str
    port: int

    def __str__(self) -> str:
        return f"{self.host}:{self.port}"

    def filled(self, late: Mapping[str, str]) -> Address:
        """The same with its late host, where `late` has it by member."""
        return replace(self, host=fill(self.host, late))


@dataclass(frozen=True)
class Addresses:
    """The four addresses of one port of one member.

    They differ if a packet's address is translated on its way. A driver begins where it is told to,
    and some go on where members say that they are: both must be the endpoint under study, or
    drivers that discover members bypass it.
    """

    bind: Address
    """What the process listens on."""
    peer: Address
    """What other members connect to."""
    contact: Address
    """Where a client's driver begins. It may be a name, and it may be late."""
    advertised: Address
    """What the member tells clients of itself."""

    @property
    def beside(self) -> str:
        """Host at which the member itself answers commands that run beside it."""
        return LOOPBACK if unfilled(self.bind.host) else self.bind.host

    @property
    def numeric_peer(self) -> Address:
        """What other members connect to, for databases that take no names.

        A member's name stands for the address that it binds to.
        """
        host = self.peer.host
        named = not unfilled(host) and not host.replace(".", "").isdigit()
        return Address(self.bind.host, self.peer.port) if named else self.peer

    def numbers(self) -> PortNumbers:
        """The numbers of the four."""
        return PortNumbers(
            bind=self.bind.port,
            peer=self.peer.port,
            contact=self.contact.port,
            advertised=self.advertised.port,
        )

    def filled(self, late: Mapping[str, str]) -> Addresses:
        """The same with every late host that `late` has."""
        return Addresses(
            bind=self.bind.filled(late),
            peer=self.peer.filled(late),
            contact=self.contact.filled(late),
            advertised=self.advertised.filled(late),
        )


@dataclass(frozen=True)
class Place:
    """A reserved place: where a member will be, known before anything starts.

    `home` is a directory for its files and `data` one for its data, both absolute and the same
    inside and outside a container.
    """

    member: str
    role: str
    host: str
    home: str
    data: str
    prefix: str
    """Directory of the software tree, as the member sees it."""
    ports: Mapping[str, Addresses]


@dataclass(frozen=True)
class Reservation:
    """The places of all members, in the layout's order."""

    places: tuple[Place, ...]

    def place(self, member: str) -> Place:
        """The place of `member`; KeyError when the layout has none."""
        return {place.member: place for place in self.places}[member]

    def role(self, role: str) -> tuple[Place, ...]:
        """The places of all members with this role."""
        return tuple(place for place in self.places if place.role == role)

    def filled(self, late: Mapping[str, str]) -> Reservation:
        """The same once members have started: `late` is what `Platform.late` told of them."""
        return Reservation(
            tuple(
                replace(
                    place, ports={name: each.filled(late) for name, each in place.ports.items()}
                )
                for place in self.places
            )
        )

    def numbers(self) -> Ports:
        """The numbers of every member's ports."""
        return {
            place.member: {name: each.numbers() for name, each in place.ports.items()}
            for place in self.places
        }

    def contacts(self, port: str) -> tuple[Address, ...]:
        """Where drivers begin for a port of this name, in the layout's order."""
        return tuple(place.ports[port].contact for place in self.places)

    def endpoint(self, port: str) -> frozenset[Address]:
        """All addresses that a client may use for a port of this name, by name or by number."""
        advertised = (place.ports[port].advertised for place in self.places)
        return frozenset((*self.contacts(port), *advertised))


@dataclass(frozen=True)
class Probe:
    """A command, run beside the member, that tells readiness: exit 0 and `expect` in its output."""

    argv: tuple[str, ...]
    expect: str = ""
    interval: float = 0.05
    """Seconds between tries."""


@dataclass(frozen=True)
class Service:
    """One process to start at a place."""

    member: str
    argv: tuple[str, ...]
    ready: Probe
    software: Software
    files: Mapping[str, str] = field(default_factory=dict)
    """Absolute path, below the place's home, to content."""
    env: Mapping[str, str] = field(default_factory=dict)
    stop_signal: str = "TERM"
    stop_grace: float = 10.0
    """Seconds before a stopping member is killed."""


@dataclass(frozen=True)
class Step:
    """A command to run on a member when the services before it are ready.

    It is tried again until `done` accepts its output or the deadline (seconds) is over. `parse`
    turns the output into facts.
    """

    name: str
    member: str
    argv: tuple[str, ...]
    stdin: str = ""
    deadline: float = 30.0
    done: Callable[[str], bool] = lambda _: True
    parse: Callable[[str], Mapping[str, Any]] = lambda _: {}


@dataclass(frozen=True)
class Stage:
    """Services to start together and, when they are ready, steps to run in order."""

    name: str
    services: tuple[Service, ...] = ()
    steps: tuple[Step, ...] = ()


@dataclass(frozen=True)
class Snapshot:
    """Files that hold all records, so that members of another stay can start with copies of them.

    Nothing in them depends on addresses, on the platform or on the stay that wrote them: they serve
    the members of the same names in every deployment of the same database.
    """

    files: Mapping[str, tuple[str, ...]]
    """Member → files and directories, each a path below its data directory."""
    adopt: tuple[Step, ...] = ()
    """Taken in every stay once the database is formed, before records are put in or used: how its
    members come to look for them in these files."""
    complete: tuple[Step, ...] = ()
    """Taken when the records are in and the database has nothing left to do: then the files hold
    all of them, and nothing writes there. The database need not be usable afterwards."""


@dataclass(frozen=True)
class Target:
    """What a generator needs to know of a living database; only this crosses to it.

    `addresses` are where a driver begins, in the order of the layout. `endpoint` holds every
    address that a connection may go to, by name or by number; one that goes elsewhere left the
    endpoint under study. What a name stands for is asked where the client runs. `storing` are the
    options that differ while records are put in for runs that do not measure it: every copy must
    hold them all before one that is asked alone can be read.
    """

    driver: str
    topology: str
    addresses: tuple[Address, ...]
    endpoint: frozenset[Address]
    options: Mapping[str, str | int | float | bool]
    storing: Mapping[str, str | int | float | bool] = field(default_factory=dict)

    def to_store(self) -> Target:
        """The same, for putting records in."""
        return replace(self, options={**self.options, **self.storing})
