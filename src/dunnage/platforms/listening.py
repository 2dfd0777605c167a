"""Who listens on a host: a port in use is noticed before a member fails on it."""

from __future__ import annotations

import re
from collections.abc import Iterable

from dunnage.contracts.host import Host
from dunnage.errors import StayError, UnavailableError
from dunnage.model.layout import Place

_WILDCARDS = ("0.0.0.0", "*", "[::]", "::")  # noqa: S104  # read, never bound to
_OWNER = re.compile(r'\("(?P<name>[^"]*)",pid=(?P<pid>\d+)')


def check_free(host: Host, places: Iterable[Place]) -> None:
    """Raise StayError naming the port and its holder, when a place's port is taken on `host`."""
    listing = host.run(["ss", "--no-header", "--listening", "--tcp", "--numeric", "--processes"])
    if listing.code != 0:
        raise UnavailableError(
            f"cannot tell which ports are in use: {listing.stderr.strip()}",
            where=host.name,
            hint="apt-get install iproute2",
        )
    for place in places:
        for addresses in place.ports.values():
            port = addresses.contact.port
            if addresses.peer.host != host.address:
                continue  # it is a port of a network of the member's own
            if (who := holder(listing.stdout, host.address, port)) is not None:
                raise StayError(
                    f"port {port} of {host.address} is in use, by {who}",
                    where=place.member,
                    hint=f"ss -ltnp 'sport = :{port}'",
                )


def holder(listing: str, address: str, port: int) -> str | None:
    """Who listens where `address`:`port` would collide, from what `ss -Hltnp` printed.

    None when the port is free.
    """
    for line in listing.splitlines():
        fields = line.split()
        if len(fields) < 4:
            continue
        where, _, number = fields[3].rpartition(":")
        if number == str(port) and where.partition("%")[0] in (address, *_WILDCARDS):
            owner = _OWNER.search(line)
            return f"`{owner['name']}` (pid {owner['pid']})" if owner else "an unknown process"
    return None
