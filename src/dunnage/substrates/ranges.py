"""Address ranges for containers, away from every host's address and from each other. Pure."""

from __future__ import annotations

import ipaddress
import itertools
from collections.abc import Iterable
from dataclasses import dataclass

SUBNET_SIZE = 24
"""Prefix of each network that is cut out of a pool."""


@dataclass(frozen=True)
class Ranges:
    """What containers of the daemons that we start get their addresses from."""

    bridge: str
    """Address of the default bridge, with its prefix."""
    pool: str
    """For other networks of one daemon."""
    overlay: str
    """For networks of a Swarm."""
    pods: str
    """For pods of a Kubernetes."""
    services: str
    """For its services."""


def container_ranges(addresses: Iterable[str]) -> Ranges:
    """Five ranges of 65,536 addresses that hold none of `addresses`."""
    taken = [ipaddress.ip_address(address) for address in addresses]
    free = (
        network
        for network in ipaddress.ip_network("10.64.0.0/10").subnets(new_prefix=16)
        if not any(address in network for address in taken)
    )
    bridge, *others = itertools.islice(free, 5)
    return Ranges(f"{bridge[1]}/{bridge.prefixlen}", *map(str, others))
