"""The way of a connection through namespaces, decided as their kernels decide. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from dunnage.model.path import Hop, HopKind
from dunnage.platforms.link import PAIRS
from dunnage.platforms.paths.namespace import Interface, Namespace, Route
from dunnage.platforms.paths.packet import Packet
from dunnage.platforms.paths.rules import (
    Translation,
    UnreadableRuleError,
    translation,
)

_MOST_HOPS = 64
"""More than any way has that is not a circle."""
_PROXY = "docker-proxy"


@dataclass(frozen=True)
class Goal:
    """The process that a way shall end at."""

    host: str
    pid: int
    """As the host sees it."""


class _LostError(Exception):
    """The way cannot be followed further; the text says what was looked for."""


def walk(
    namespaces: Sequence[Namespace], start: Namespace, address: str, port: int, goal: Goal
) -> tuple[tuple[Hop, ...], str]:
    """The hops after the client's process, and why they end early; that is empty if they do not.

    `namespaces` are all that were read, of all hosts, and `start` is the client's.
    """
    way = _Way(tuple(namespaces), goal)
    try:
        way.begin(start, address, port)
    except _LostError as lost:
        return tuple(way.hops), str(lost)
    except UnreadableRuleError as rule:
        return tuple(way.hops), f"it is not known whether this rule applies: {rule}"
    return tuple(way.hops), ""


class _Way:
    """Follows one connection; `hops` grows with every station."""

    def __init__(self, namespaces: tuple[Namespace, ...], goal: Goal) -> None:
        self.hops: list[Hop] = []
        self._namespaces = namespaces
        self._goal = goal

    def begin(self, here: Namespace, address: str, port: int) -> None:
        """A process of this namespace connects to an address."""
        packet = Packet(_route(here, address).source, address, port)
        self._onward(here, self._translated(here, "OUTPUT", packet))

    def _arrive(self, here: Namespace, device: Interface, packet: Packet) -> None:
        """A packet comes in from outside, and this namespace's rules and routes see it."""
        came = replace(packet, entered=device.name)
        self._onward(here, self._translated(here, "PREROUTING", came))

    def _onward(self, here: Namespace, packet: Packet) -> None:
        packet = self._served(here, packet)
        if here.is_local(packet.address):
            if not packet.entered:
                self._add(here, HopKind.DEVICE, "lo", "the host's own" if here.own else "")
            self._deliver(here, packet)
            return
        route = _route(here, packet.address)
        device = _interface(here, route.device)
        leaving = replace(packet, leaves=device.name)
        sent = self._translated(here, "POSTROUTING", leaving, own=route.source)
        onto = route.gateway or packet.address
        bare = replace(sent, entered="", leaves="", translated=False, virtual=False, mark=0)
        self._leave(here, device, onto, bare)

    def _translated(self, here: Namespace, chain: str, packet: Packet, own: str = "") -> Packet:
        """A packet as a chain leaves it; `own` is the address that hides others by masquerade."""
        if here.rules_unknown:
            raise _LostError(f"the rules of `{here.host}` could not be read: {here.rules_unknown}")
        packet, _ = translation(here.marks, chain, packet, here)
        packet, found = translation(here.rules, chain, packet, here)
        if found is None:
            return packet
        self._add(here, HopKind.TRANSLATION, found.target, found.rule)
        return _after(found, packet, own)

    def _served(self, here: Namespace, packet: Packet) -> Packet:
        """A packet as IPVS sends it to the server behind a service; as it is if it is for none.

        Of what comes in, IPVS looks at packets to the namespace's own addresses only.
        """
        if packet.entered and not here.is_local(packet.address):
            return packet
        if packet.entered:
            packet, _ = translation(here.marks, "INPUT", packet, here)
        if (service := here.virtual(packet)) is None:
            return packet
        if len(service.servers) != 1:
            raise _LostError(
                f"IPVS of `{here.host}` has {len(service.servers)} servers for {service}"
            )
        ((address, port),) = service.servers
        sent = replace(packet, address=address, port=port or packet.port, virtual=True)
        to = f"{service}, {service.scheduler}, to {sent.address}:{sent.port}"
        self._add(here, HopKind.TRANSLATION, "IPVS", to)
        return sent

    def _deliver(self, here: Namespace, packet: Packet) -> None:
        """To whoever takes connections there."""
        found = here.listening(packet.address, packet.port)
        to = f"{packet.address}:{packet.port}"
        if found is None:
            raise _LostError(f"on `{here.host}` nobody listens on {to}")
        if found.process == _PROXY:
            self._through_proxy(here, found.pid)
            return
        holders = {each.pid for each in here.listeners if each.port == packet.port}
        if here.host != self._goal.host or self._goal.pid not in holders:
            raise _LostError(
                f"on `{here.host}` {to} belongs to process {found.pid} (`{found.process}`), "
                f"not to process {self._goal.pid} of `{self._goal.host}`"
            )
        detail = f"process {self._goal.pid}, listens on {found.address}:{found.port}"
        self._add(here, HopKind.MEMBER, found.process, detail)

    def _through_proxy(self, here: Namespace, pid: int) -> None:
        command = here.commands.get(pid, ())
        self._add(here, HopKind.PROXY, _PROXY, f"process {pid}")
        try:
            address = command[command.index("-container-ip") + 1]
            port = int(command[command.index("-container-port") + 1])
        except (ValueError, IndexError):
            raise _LostError(
                f"the command line of `{_PROXY}` on `{here.host}` does not say where it connects to"
            ) from None
        self.begin(here, address, port)

    def _leave(self, here: Namespace, device: Interface, onto: str, packet: Packet) -> None:
        """Send to the neighbour `onto`, out by a device."""
        if here.router:  # by the device that the packet came in by: it is told of once
            self._arrive(*self._across(here, packet, onto), packet)
            return
        if device.kind == "bridge":
            self._add_interface(here, HopKind.BRIDGE, device)
            self._switch(here, device, onto, packet)
            return
        if device.vxlan is not None:
            self._arrive(*self._tunnelled(here, device, self._remote(here, device, onto)), packet)
            return
        other = self._peer(here, device)
        if other is not None:
            self._add_interface(here, HopKind.VETH, device)
            self._enter(*other, onto, packet)
            return
        self._add_interface(here, HopKind.DEVICE, device)
        self._arrive(*self._across(here, packet, onto), packet)

    def _enter(self, here: Namespace, device: Interface, onto: str, packet: Packet) -> None:
        """A packet comes out of this end of a veth pair."""
        self._add_interface(here, HopKind.VETH, device)
        if not device.master:
            self._arrive(here, device, packet)
            return
        bridge = _interface(here, device.master)
        self._add_interface(here, HopKind.BRIDGE, bridge)
        if onto in bridge.addresses:
            self._arrive(here, bridge, packet)
        else:
            self._switch(here, bridge, onto, packet)

    def _switch(self, here: Namespace, bridge: Interface, onto: str, packet: Packet) -> None:
        """A bridge sends to the port behind which a neighbour is."""
        for port in here.ports(bridge.name):
            other = self._peer(here, port)
            if other is not None and onto in other[1].addresses:
                self._add_interface(here, HopKind.VETH, port)
                self._enter(*other, onto, packet)
                return
        for port in here.ports(bridge.name):
            if port.vxlan is not None and (remote := self._sends(here, port, onto)) is not None:
                there, device = self._tunnelled(here, port, remote)
                far = _interface(there, device.master)
                self._add_interface(there, HopKind.BRIDGE, far)
                self._switch(there, far, onto, packet)
                return
        raise _LostError(
            f"bridge `{bridge.name}` of `{here.host}` has no port that leads to {onto}"
        )

    def _sends(self, here: Namespace, device: Interface, onto: str) -> str | None:
        """The host that a VXLAN device sends what is for a neighbour to; None if it knows none."""
        macs = {each.mac for space in self._namespaces if (each := space.owner(onto)) is not None}
        known = (here.forwarding.get((device.name, mac)) for mac in macs)
        return next((each for each in known if each is not None), None)

    def _remote(self, here: Namespace, device: Interface, onto: str) -> str:
        if (remote := self._sends(here, device, onto)) is None:
            raise _LostError(f"`{device.name}` of `{here.host}` knows no host that has {onto}")
        return remote

    def _tunnelled(
        self, here: Namespace, device: Interface, remote: str
    ) -> tuple[Namespace, Interface]:
        """Through a VXLAN device, whose own packets go by the host's network, to its other end."""
        self._add(here, HopKind.TUNNEL, device.name, _tunnel(device, remote))
        outside = self._own(here.host)
        route = _route(outside, remote)
        self._add_interface(outside, HopKind.DEVICE, _interface(outside, route.device))
        there, _ = self._across(outside, Packet(route.source, remote, 0), remote)
        for space in self._namespaces:
            for each in space.interfaces if space.host == there.host else ():
                if each.vxlan is not None and each.vxlan == device.vxlan:
                    self._add(space, HopKind.TUNNEL, each.name, _tunnel(each))
                    return space, each
        raise _LostError(
            f"`{there.host}` has no VXLAN device that takes what `{device.name}` sends"
        )

    def _across(self, here: Namespace, packet: Packet, onto: str) -> tuple[Namespace, Interface]:
        """Who on the other side has the neighbour's address, and by which interface: a host, or a
        container that is on the wire beside its host.

        A gateway that was not read is taken for a part of the wire.
        """
        for address in (onto, packet.address):
            for there in self._namespaces:
                device = there.owner(address)
                if device is None or there.host == here.host:
                    continue
                if there.own or (there.pids and device.kind not in PAIRS):
                    between = f"{packet.source} → {packet.address}"
                    self._append(Hop(kind=HopKind.WIRE, host="", name="wire", detail=between))
                    kind = HopKind.ROUTER if there.router else HopKind.DEVICE
                    self._add_interface(there, kind, device)
                    return there, device
        raise _LostError(f"no other host has the address {packet.address}")

    def _own(self, host: str) -> Namespace:
        return next(each for each in self._namespaces if each.own and each.host == host)

    def _peer(self, here: Namespace, device: Interface) -> tuple[Namespace, Interface] | None:
        """The other end of a veth pair; None if it is in no namespace that was read."""
        fitting = [
            (space, each)
            for space in self._namespaces
            for each in space.interfaces
            if device.peer and space.host == here.host and space is not here
            if (each.index, each.peer) == (device.peer, device.index)
        ]
        if len(fitting) > 1:
            raise _LostError(
                f"several interfaces of `{here.host}` may be the peer of `{device.name}`"
            )
        return fitting[0] if fitting else None

    def _add_interface(self, here: Namespace, kind: HopKind, device: Interface) -> None:
        parts = [*device.addresses, f"MTU {device.mtu}"]
        inside = kind in (HopKind.VETH, HopKind.DEVICE) and not here.own and here.pids
        if device.addresses and inside:
            parts.append("in the container")
        self._add(here, kind, device.name, ", ".join(parts))

    def _add(self, here: Namespace, kind: HopKind, name: str, detail: str) -> None:
        self._append(Hop(kind=kind, host=here.host, name=name, detail=detail))

    def _append(self, hop: Hop) -> None:
        if len(self.hops) >= _MOST_HOPS:
            raise _LostError("it leads round in a circle")
        self.hops.append(hop)


def _after(found: Translation, packet: Packet, own: str) -> Packet:
    """A packet as it leaves a rule."""
    match found.target:
        case "DNAT":
            return replace(
                packet,
                address=found.address or packet.address,
                port=found.port or packet.port,
                translated=True,
            )
        case "REDIRECT":
            return replace(packet, port=found.port or packet.port)
        case "SNAT":
            return replace(packet, source=found.address)
        case _:  # MASQUERADE
            return replace(packet, source=own)


def _route(here: Namespace, address: str) -> Route:
    if (route := here.routes.get(address)) is None:
        raise _LostError(f"`{here.host}` has no route to {address} that could be read")
    return route


def _interface(here: Namespace, name: str) -> Interface:
    if (device := here.interface(name)) is None:
        raise _LostError(f"`{here.host}` has no interface `{name}` that could be read")
    return device


def _tunnel(device: Interface, remote: str = "") -> str:
    vxlan = device.vxlan
    assert vxlan is not None  # noqa: S101 (only VXLAN devices are tunnels)
    to = [f"to {remote}"] if remote else []
    parts = (f"VXLAN {vxlan.identifier}", f"UDP port {vxlan.port}", f"MTU {device.mtu}", *to)
    return ", ".join(parts)
