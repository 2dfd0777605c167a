"""Where members go: slots round the hosts of the group, ports that do not collide on a host."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from dunnage.contracts import Host
from dunnage.model.layout import Address, Addresses, Layout, Place, Reservation, Seat

EVERYWHERE = "0.0.0.0"  # noqa: S104  # inside a container's own network namespace only


def seated(layout: Layout, hosts: Sequence[Host]) -> dict[str, Host]:
    """Member → host: a seat's slot, taken round the group's size."""
    return {seat.member: hosts[seat.slot % len(hosts)] for seat in layout.seats}


def reserve(
    layout: Layout, hosts: Sequence[Host], prefix: str, bind: str | None = None
) -> Reservation:
    """Reserve a place for each seat; it binds to its host's address, or to `bind`.

    Peers and clients are told the host's address. A member whose ports are taken on its host by
    one before it moves all of them up by the same number, so that their distances stay.
    """
    where = seated(layout, hosts)
    taken: dict[str, set[int]] = {host.name: set() for host in hosts}
    places = []
    for seat in layout.seats:
        host = where[seat.member]
        ports = _free(seat.ports, taken[host.name])
        taken[host.name].update(ports.values())
        places.append(_place(seat, host, prefix, ports, bind or host.address))
    return Reservation(tuple(places))


def home(host: Host, member: str) -> str:
    """Directory of a member's files."""
    return f"{directory(host, member)}/home"


def data(host: Host, member: str) -> str:
    """Directory of a member's data."""
    return f"{directory(host, member)}/data"


def directory(host: Host, member: str) -> str:
    """Directory of all that a member leaves on its host."""
    return f"{host.scratch}/members/{member}"


def _place(seat: Seat, host: Host, prefix: str, ports: Mapping[str, int], bind: str) -> Place:
    return Place(
        member=seat.member,
        role=seat.role,
        host=host.name,
        home=home(host, seat.member),
        data=data(host, seat.member),
        prefix=prefix,
        ports={
            name: Addresses(
                bind=Address(bind, port),
                peer=Address(host.address, port),
                client=Address(host.address, port),
            )
            for name, port in ports.items()
        },
    )


def _free(wanted: Mapping[str, int], taken: set[int]) -> dict[str, int]:
    up = 0
    while any(port + up in taken for port in wanted.values()):
        up += 1
    return {name: port + up for name, port in wanted.items()}
