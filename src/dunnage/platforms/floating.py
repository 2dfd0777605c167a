"""Floating addresses: what stands between the hosts translates each to a host's own."""

from __future__ import annotations

from dunnage.contracts.host import HasRouter, Router, Site
from dunnage.errors import UnavailableError


def router_before(host: Site) -> Router:
    """What translates the host's floating address; raises UnavailableError where nothing does."""
    if isinstance(host, HasRouter) and host.router is not None:
        return host.router
    raise UnavailableError(
        "nothing translates a floating address to this host",
        where=host.name,
        hint="dunnage schema study  # name another endpoint, such as host-port",
    )


def floating_address(host: Site) -> str:
    """The host's floating IPv4 address; raises UnavailableError where it has none."""
    return router_before(host).floating(host.name)
