"""Where members go: slots round the hosts of the group, ports that do not collide on a host."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

from dunnage.contracts import Host
from dunnage.model.layout import Address, Addresses, Layout, Place, Reservation


def reserve(
    layout: Layout, hosts: Sequence[Host], prefix: str, bind: str | None = None
) -> Reservation:
    """Reserve a place for each seat, round the hosts; it binds to its host's address, or to `bind`.

    Peers and clients are told the host's address. A member whose ports are taken on its host by
    one before it moves all of them up by the same number, so that their distances stay.
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
                ports={name: _addresses(host, port, bind) for name, port in ports.items()},
            )
        )
    return Reservation(tuple(places))


def directory(host: Host, member: str) -> str:
    """Directory of all that a member leaves on its host."""
    return f"{host.scratch}/members/{member}"


def _addresses(host: Host, port: int, bind: str | None) -> Addresses:
    told = Address(host.address, port)
    return Addresses(bind=Address(bind, port) if bind else told, peer=told, client=told)


def _free(wanted: Mapping[str, int], taken: set[int]) -> dict[str, int]:
    up = 0
    while any(port + up in taken for port in wanted.values()):
        up += 1
    return {name: port + up for name, port in wanted.items()}
