"""The addresses of a network, and the one that a container has in it."""

from __future__ import annotations

import ipaddress
import time
from collections.abc import Mapping
from typing import Any

from docker import DockerClient

from dunnage.contracts.host import Host
from dunnage.errors import StayError
from dunnage.platforms.container_member import spoken
from dunnage.platforms.link import addresses

_ALLOCATED = 10.0
"""Seconds within which a manager gives a new network its addresses."""


def subnet(client: DockerClient, network: str, where: str) -> str:
    """The IPv4 range of a network, as `10.0.1.0/24`. Raises StayError when it has none in time."""
    ends = time.monotonic() + _ALLOCATED
    while True:
        with spoken(f"network `{network}` cannot be inspected", where):
            attributes: dict[str, Any] = client.networks.get(network).attrs
        for one in (attributes.get("IPAM") or {}).get("Config") or ():
            if "." in str(one.get("Subnet")):
                return str(one["Subnet"])
        if time.monotonic() >= ends:
            raise StayError(
                f"network `{network}` has no IPv4 addresses",
                where=where,
                hint=f"docker network inspect {network}",
            )
        time.sleep(0.02)


def address_in(within: str, host: Host, pid: int) -> str | None:
    """A process's own address in a range such as `10.0.1.0/24`, as the kernel of its host has it.

    None when the process is gone, or has none there.
    """
    try:
        interfaces = addresses(host, ["nsenter", f"--target={pid}", "--net"])
    except StayError:
        return None
    network = ipaddress.ip_network(within)
    for interface in interfaces:
        for entry in interface.get("addr_info", ()):
            local = str(entry.get("local"))
            if "." in local and ipaddress.ip_address(local) in network:
                return local
    return None


def told_in(within: str, container: Mapping[str, Any]) -> str | None:
    """A container's own address in such a range, as its daemon tells it; None if it has none."""
    network = ipaddress.ip_network(within)
    joined: Mapping[str, Any] = container["NetworkSettings"].get("Networks") or {}
    told = (str(each.get("IPAddress") or "") for each in joined.values())
    return next((each for each in told if each and ipaddress.ip_address(each) in network), None)
