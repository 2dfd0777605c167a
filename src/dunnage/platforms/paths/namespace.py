"""A network namespace of a host, as its kernel told it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from dunnage.platforms.paths.packet import Packet
from dunnage.platforms.paths.rules import Words
from dunnage.platforms.paths.sets import AddressSet
from dunnage.platforms.paths.virtual import Virtual

ANY = "0.0.0.0"  # noqa: S104  # what others listen on is read, not chosen
"""The address of a listener that takes connections to all addresses."""


@dataclass(frozen=True)
class Vxlan:
    """What a VXLAN device wraps packets with."""

    identifier: int
    port: int


@dataclass(frozen=True)
class Interface:
    """One network interface."""

    name: str
    index: int
    kind: str
    """`veth`, `bridge`, `vxlan`, …; empty for hardware and loopback."""
    mtu: int
    mac: str
    master: str
    """The bridge that it is a port of; empty if none."""
    peer: int
    """Index of the other end of a veth pair, in that end's namespace; 0 if none."""
    addresses: tuple[str, ...]
    """IPv4."""
    vxlan: Vxlan | None = None


@dataclass(frozen=True)
class Route:
    """What the kernel does with packets to an address."""

    device: str
    gateway: str
    source: str
    """The address that a packet made here gets."""
    local: bool
    """Whether the address is the namespace's own."""


@dataclass(frozen=True)
class Listener:
    """A TCP socket that takes connections, and the process that holds it."""

    address: str
    """IPv4, or `ANY`."""
    port: int
    process: str
    pid: int


@dataclass(frozen=True)
class Namespace:
    """What was read inside one network namespace."""

    host: str
    pids: frozenset[int]
    """Processes that were asked for and are in it, by the host's ids."""
    own: bool
    """Whether it is the host's own."""
    interfaces: tuple[Interface, ...]
    routes: Mapping[str, Route]
    """By address, of those that were asked for and have one."""
    listeners: tuple[Listener, ...] = ()
    forwarding: Mapping[tuple[str, str], str] = field(default_factory=dict)
    """Device and MAC → the address of the host that the device sends to."""
    rules: Mapping[str, Sequence[Words]] = field(default_factory=dict)
    """Chain → the rules that translate addresses."""
    rules_unknown: str = ""
    """Why those could not be read; empty if they were, or nothing makes any."""
    marks: Mapping[str, Sequence[Words]] = field(default_factory=dict)
    """Chain → the rules that mark packets before others look at them."""
    sets: Mapping[str, AddressSet] = field(default_factory=dict)
    """Name → the sets that rules go by."""
    virtuals: tuple[Virtual, ...] = ()
    """The services of IPVS."""
    commands: Mapping[int, Words] = field(default_factory=dict)
    """Process id of a docker-proxy → its command line."""
    router: bool = False
    """Whether it is no host's, but that of a router between hosts."""

    def interface(self, name: str) -> Interface | None:
        """The interface of this name."""
        return next((each for each in self.interfaces if each.name == name), None)

    def owner(self, address: str) -> Interface | None:
        """The interface that has an address."""
        return next((each for each in self.interfaces if address in each.addresses), None)

    def is_local(self, address: str) -> bool:
        """Whether an address is one of this namespace."""
        return address.startswith("127.") or self.owner(address) is not None

    def virtual(self, packet: Packet) -> Virtual | None:
        """The service of IPVS that takes a packet."""
        return next((each for each in self.virtuals if each.takes(packet)), None)

    def ports(self, bridge: str) -> tuple[Interface, ...]:
        """The interfaces that are ports of a bridge."""
        return tuple(each for each in self.interfaces if each.master == bridge)

    def listening(self, address: str, port: int) -> Listener | None:
        """Who takes connections to an address; a socket for that address goes first."""
        fitting = [each for each in self.listeners if each.port == port]
        exact = (each for each in fitting if each.address == address)
        return next(exact, next((each for each in fitting if each.address == ANY), None))
