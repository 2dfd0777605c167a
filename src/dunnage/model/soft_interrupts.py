"""Soft interrupts of a machine, by whom they were for."""

from __future__ import annotations

from collections.abc import Mapping

from dunnage.model.value import Value

BRIDGE = "bridge"
"""What joins the hosts of a lab, where hosts are named. Names of hosts end with a number."""


class SoftInterrupts(Value):
    """Seconds in soft interrupts, over all processors of a machine.

    Time in those of the network counts from a packet for the host in whose network it arrived. It
    counts until a packet arrives elsewhere.

    This is elapsed time. It holds hard interrupts that came in between, time that a hypervisor took
    from the machine (`steal` of the machine's use), and what the counting itself takes.
    """

    networks: Mapping[str, float] = {}
    """Host → those of the network in its own network namespaces and in those of its containers.
    `bridge` is what joins the hosts of a lab."""
    elsewhere: float | None = None
    """Those of the network for packets that arrived anywhere else."""
    no_packet: float | None = None
    """Those of the network in which no packet arrived."""
    other_kinds: float | None = None
    """All that are not the network's."""
    method: str = ""
    """How they were counted, as the sampler tells."""
    absent: str = ""
    """Why none of this is known; empty where it is."""
