"""The hosts of a lab before there is one. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from dunnage.hosts.lab import SCRATCH
from dunnage.hosts.namespace.host import ENGINE
from dunnage.hosts.namespace.network import plugged
from dunnage.model.study import TestbedSpec

LAB = "LAB"
"""Stands for the lab's name, which it is given when it is made."""


@dataclass(frozen=True)
class PlannedHost:
    """What is known of a host that is yet to be made."""

    name: str
    group: str
    address: str
    floating: str
    """The IPv4 address that is translated to its own, where one is."""
    scratch: str
    engine: str = ENGINE


def planned_hosts(spec: TestbedSpec) -> tuple[PlannedHost, ...]:
    """The hosts that a lab will have."""
    return tuple(
        PlannedHost(name, group, plug.address, plug.floating, f"{SCRATCH}/{LAB}/{name}")
        for name, group, plug in plugged(spec)
    )
