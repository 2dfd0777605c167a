"""Who made the routes to pods on other hosts. Pure.

A bridge with static routes and flannel's host-gw send the same packets the same way. The kernel
tells them apart: it keeps who made a route, and flannel, which names nobody (`boot`), writes what
it does into a file.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from dunnage.model.unknown import UNKNOWN

FLANNEL = "flannel"
_FILE = "/run/flannel/subnet.env"
_NOBODY = "boot"
"""The protocol of a route whose maker named none, iproute2's `rt_protos`."""


def script(pods: Sequence[str]) -> str:
    """Print the route itself to each pod, not what it comes to, and whether flannel is there."""
    asked = "\n".join(f"ip -json -details route get fibmatch {each}" for each in pods)
    return f"{asked}\n[ ! -e {_FILE} ] || echo {FLANNEL}"


def told(printed: str) -> str:
    """The makers of the routes that the script printed; raises ValueError for what is no route."""
    lines = [line for line in printed.splitlines() if line.strip()]
    there = FLANNEL in lines
    routes = [route for line in lines if line != FLANNEL for route in json.loads(line)]
    makers = {str(route.get("protocol", _NOBODY)) for route in routes}
    if not makers:
        return f"{UNKNOWN}: `ip route get fibmatch` tells no route"
    named = {FLANNEL if there and each == _NOBODY else each for each in makers}
    return " and ".join(sorted(named))
