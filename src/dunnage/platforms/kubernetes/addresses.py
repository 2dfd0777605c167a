"""The addresses of members in pods, for each endpoint. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from lightkube.models.core_v1 import ServicePort
from lightkube.resources.core_v1 import Service

from dunnage.contracts.host import Host
from dunnage.model.choices import Peers
from dunnage.model.late import late_host
from dunnage.model.layout import Address, Addresses
from dunnage.platforms import places
from dunnage.platforms.offered import CONTAINER_DNS, NODE_PORT, SERVICE_IP


def addressing(endpoint: str, peers: Peers, services: Mapping[str, Service]) -> places.Addressing:
    """How a member's port is addressed; `services` has the service before each member, if any.

    Members that reach each other directly go by their headless names, which stand for their pods.
    """

    def by_service_ip(member: str, host: Host, port: int) -> Addresses:  # noqa: ARG001
        told = Address(address_of(services[member]), port)
        own = Address(late_host(member), port)
        return Addresses(bind=own, peer=told, contact=told, advertised=told)

    def by_node_port(member: str, host: Host, port: int) -> Addresses:
        return places.translated(member, host, node_port_of(services[member], port))

    ways: Mapping[str, places.Addressing] = {
        CONTAINER_DNS: places.named,
        SERVICE_IP: by_service_ip,
        NODE_PORT: by_node_port,
    }
    chosen = ways.get(endpoint, places.translated)
    if peers is not Peers.DIRECT:
        return chosen

    def direct(member: str, host: Host, port: int) -> Addresses:
        found = chosen(member, host, port)
        return replace(found, peer=Address(member, found.bind.port))

    return direct


def address_of(service: Service) -> str:
    """A service's own address."""
    return str((service.spec and service.spec.clusterIP) or "")


def node_port_of(service: Service, port: int) -> int:
    """The port of all nodes that stands for a service's port."""
    opened: list[ServicePort] = (service.spec and service.spec.ports) or []
    return next(int(each.nodePort or 0) for each in opened if each.port == port)
