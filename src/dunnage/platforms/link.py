"""A host's own link, as `ip` tells it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from dunnage.contracts.host import Host
from dunnage.errors import StayError

PAIRS = frozenset({"veth", "netkit"})
"""Kinds of interfaces of a container whose other end is on its host, which routes or switches what
they send. Any other interface is on the wire beside those of the host."""


def link(host: Host) -> dict[str, str]:
    """Interface and MTU of the link that holds the host's address."""
    for interface in addresses(host):
        for address in interface.get("addr_info", ()):
            if address.get("local") == host.address:
                return {"interface": str(interface["ifname"]), "mtu": str(interface["mtu"])}
    raise StayError(
        f"no interface has the address {host.address}", where=host.name, hint="ip -brief address"
    )


def addresses(host: Host, within: Sequence[str] = ()) -> list[dict[str, Any]]:
    """What `ip -json address` prints, on the host or, by a prefix `within`, inside a namespace."""
    listing = host.run([*within, "ip", "-json", "address"])
    if listing.code != 0:
        raise StayError(
            f"the network cannot be read back: {listing.stderr.strip()}",
            where=host.name,
            hint="ip -json address",
        )
    interfaces: list[dict[str, Any]] = json.loads(listing.stdout)
    return interfaces
