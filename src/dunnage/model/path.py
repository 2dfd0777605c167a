"""The network path from a client to a member: what a packet passes, hop by hop, as read back."""

from __future__ import annotations

from enum import StrEnum

from dunnage.model.value import Value


class HopKind(StrEnum):
    """What a packet passes."""

    CLIENT = "client"
    """The process that makes the load."""
    VETH = "veth"
    """One end of a pair of virtual interfaces."""
    DEVICE = "device"
    """A network device that leads to the wire, or to the switch of a lab."""
    BRIDGE = "bridge"
    TRANSLATION = "translation"
    """A rule that changes the address of its destination, or of its source."""
    PROXY = "proxy"
    """A process that takes connections and makes others."""
    TUNNEL = "tunnel"
    """A device that wraps packets into others, such as VXLAN."""
    ROUTER = "router"
    """A device of what stands between hosts and sends packets on by their addresses."""
    WIRE = "wire"
    """What lies between two hosts."""
    MEMBER = "member"
    """The process of the database."""


class Hop(Value):
    """One station of a path."""

    kind: HopKind
    host: str
    """The host it belongs to; empty for what lies between hosts."""
    name: str
    """Interface, process or rule, by the name that the host has for it."""
    detail: str = ""
    """What was read of it: address, MTU, VXLAN's id and port, the rule."""


class NetworkPath(Value):
    """The way of a request from a client to one member. The answer comes back the same way."""

    client: str
    member: str
    address: str
    """Where the client connects to, as `address:port`."""
    hops: tuple[Hop, ...]
    unknown: str = ""
    """Why a part could not be read; empty when all was."""
