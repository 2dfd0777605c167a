"""The addresses of members in pods, for each endpoint. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from dunnage.contracts.host import Site
from dunnage.model.choices import Peers
from dunnage.model.late import late_host
from dunnage.model.layout import Address, Addresses
from dunnage.platforms import places
from dunnage.platforms.offered import CONTAINER_DNS, NODE_PORT, SERVICE_IP


@dataclass(frozen=True)
class Served:
    """What a cluster gave the service before a member."""

    address: str
    """The service's own."""
    node_ports: Mapping[int, int]
    """The service's port → the port of all nodes that stands for it; none where it has none."""


def addressing(endpoint: str, peers: Peers, services: Mapping[str, Served]) -> places.Addressing:
    """How a member's port is addressed; `services` has the service before each member, if any.

    Members that reach each other directly go by their headless names, which stand for their pods.
    """

    def by_service_ip(member: str, host: Site, port: int) -> Addresses:  # noqa: ARG001
        told = Address(services[member].address, port)
        own = Address(late_host(member), port)
        return Addresses(bind=own, peer=told, contact=told, advertised=told)

    def by_node_port(member: str, host: Site, port: int) -> Addresses:
        return places.translated(member, host, services[member].node_ports[port])

    ways: Mapping[str, places.Addressing] = {
        CONTAINER_DNS: places.named,
        SERVICE_IP: by_service_ip,
        NODE_PORT: by_node_port,
    }
    chosen = ways.get(endpoint, places.translated)
    if peers is not Peers.DIRECT:
        return chosen

    def direct(member: str, host: Site, port: int) -> Addresses:
        found = chosen(member, host, port)
        return replace(found, peer=Address(member, found.bind.port))

    return direct
