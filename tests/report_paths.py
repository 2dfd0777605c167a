"""Network paths for the made-up study: directly from host to host, or through a bridge."""

from __future__ import annotations

from dunnage.model.path import Hop, HopKind, NetworkPath

MEMBERS = {"redis-1": "10.0.0.1", "redis-2": "10.0.0.2", "redis-3": "10.0.0.3"}
RULE = (
    "-A DOCKER -d {}/32 ! -i docker0 -p tcp -m tcp --dport 6379 "
    "-j DNAT --to-destination 172.17.0.2:6379"
)


def paths(deployment: str) -> tuple[NetworkPath, ...]:
    """The way to each of three members, all alike."""
    return tuple(
        NetworkPath(
            client="client-1",
            member=member,
            address=f"{address}:6379",
            hops=_hops(f"db-{number}", address, bridge="bridge" in deployment),
        )
        for number, (member, address) in enumerate(MEMBERS.items(), start=1)
    )


def _hops(host: str, address: str, *, bridge: bool) -> tuple[Hop, ...]:
    client = "client-1"
    out = (
        Hop(kind=HopKind.CLIENT, host=client, name="client", detail=f"connects to {address}:6379"),
        Hop(kind=HopKind.DEVICE, host=client, name="eth0", detail="10.0.0.9, MTU 1500"),
        Hop(kind=HopKind.WIRE, host="", name="wire", detail=f"10.0.0.9 → {address}"),
        Hop(kind=HopKind.DEVICE, host=host, name="eth0", detail=f"{address}, MTU 1500"),
    )
    within = (
        Hop(kind=HopKind.TRANSLATION, host=host, name="DNAT", detail=RULE.format(address)),
        Hop(kind=HopKind.BRIDGE, host=host, name="docker0", detail="172.17.0.1, MTU 1500"),
        Hop(kind=HopKind.VETH, host=host, name="veth1a2b3c4", detail="MTU 1500"),
        Hop(kind=HopKind.VETH, host=host, name="eth0", detail="172.17.0.2, MTU 1500"),
    )
    member = Hop(kind=HopKind.MEMBER, host=host, name="redis-server", detail="process 123")
    return (*out, *(within if bridge else ()), member)
