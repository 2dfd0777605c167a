"""Soft interrupts of a machine, by whom they were for."""

from __future__ import annotations

from collections.abc import Mapping

from dunnage.model.value import Value

BRIDGE = "bridge"
"""What joins the hosts of a lab, where hosts are named. Names of hosts end with a number."""


class SoftInterrupts(Value):
    """CPU seconds in soft interrupts, over all processors of a machine.

    Those of the network count for the host in whose network a packet arrived, from that packet to
    the next one that arrived elsewhere.
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
    """How they were counted."""
    absent: str = ""
    """Why none of this is known; empty where it is."""

    @property
    def total(self) -> float | None:
        """All soft interrupts of the machine; None where they are not known."""
        parts = (self.elsewhere, self.no_packet, self.other_kinds)
        known = [part for part in parts if part is not None]
        return sum((*self.networks.values(), *known)) if len(known) == len(parts) else None
