"""Where members go: slots round the hosts of the group, ports that do not collide on a host."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from dunnage.contracts.host import Site
from dunnage.model.late import late_host
from dunnage.model.layout import Address, Addresses, Layout, Place, Reservation
from dunnage.model.offer import FLOATING_IP, HOST_NAME, EndpointOffer

Addressing = Callable[[str, Site, int], Addresses]
"""The addresses of a member's port on its host."""


def direct(member: str, host: Site, port: int) -> Addresses:  # noqa: ARG001  # as any addressing
    """All use the host's own address, which the member binds to."""
    own = Address(host.address, port)
    return Addresses(bind=own, peer=own, contact=own, advertised=own)


def translated(member: str, host: Site, port: int) -> Addresses:
    """All use the host's address; it is translated to the member's own, known when it starts."""
    told = Address(host.address, port)
    own = Address(late_host(member), port)
    return Addresses(bind=own, peer=told, contact=told, advertised=told)


def named(member: str, host: Site, port: int) -> Addresses:  # noqa: ARG001  # as any addressing
    """All use the member's name, which stands for its own address, known when it starts."""
    told = Address(member, port)
    own = Address(late_host(member), port)
    return Addresses(bind=own, peer=told, contact=told, advertised=own)


def served(member: str, host: Site, port: int) -> Addresses:  # noqa: ARG001  # as any addressing
    """All use the member's name, which stands for an address that is translated to its own."""
    told = Address(member, port)
    own = Address(late_host(member), port)
    return Addresses(bind=own, peer=told, contact=told, advertised=told)


def by_host_name(addressing: Addressing) -> Addressing:
    """The same, but that clients begin at the name of a member's host."""

    def addresses(member: str, host: Site, port: int) -> Addresses:
        return replace(addressing(member, host, port), contact=Address(host.name, port))

    return addresses


def by_floating_address(addressing: Addressing, floating: Callable[[Site], str]) -> Addressing:
    """The same, but that clients begin at the floating address of a member's host and are told it.

    Members go on using what they use without it.
    """

    def addresses(member: str, host: Site, port: int) -> Addresses:
        told = Address(floating(host), port)
        return replace(addressing(member, host, port), contact=told, advertised=told)

    return addresses


def as_clients_are_told(
    addressing: Addressing, endpoint: EndpointOffer | None, floating: Callable[[Site], str]
) -> Addressing:
    """The same, but for the address under study, where hosts provide it."""
    if endpoint is HOST_NAME:
        return by_host_name(addressing)
    if endpoint is FLOATING_IP:
        return by_floating_address(addressing, floating)
    return addressing


def reserve(
    layout: Layout, hosts: Sequence[Site], prefix: str, addressing: Addressing = direct
) -> Reservation:
    """Reserve a place for each seat, round the hosts.

    A member whose ports are taken on its host by one before it moves all of them up by the same
    number, so that their distances stay.
    """
    taken: dict[str, set[int]] = defaultdict(set)
    places = []
    for seat in layout.seats:
        host = hosts[seat.slot % len(hosts)]
        ports = _free(seat.ports, taken[host.name])
        taken[host.name].update(ports.values())
        mine = directory(host, seat.member)
        places.append(
            Place(
                member=seat.member,
                role=seat.role,
                host=host.name,
                home=f"{mine}/home",
                data=f"{mine}/data",
                prefix=prefix,
                ports={name: addressing(seat.member, host, port) for name, port in ports.items()},
            )
        )
    return Reservation(tuple(places))


def directory(host: Site, member: str) -> str:
    """Directory of all that a member leaves on its host."""
    return f"{host.scratch}/members/{member}"


def _free(wanted: Mapping[str, int], taken: set[int]) -> dict[str, int]:
    up = 0
    while any(port + up in taken for port in wanted.values()):
        up += 1
    return {name: port + up for name, port in wanted.items()}
