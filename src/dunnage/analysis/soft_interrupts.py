"""Soft interrupts of a run, by whose packets they were for."""

from __future__ import annotations

import math
from collections.abc import Sequence

from dunnage.model.record import HostUsage, Record
from dunnage.model.soft_interrupts import BRIDGE, SoftInterrupts
from dunnage.model.study import CLIENT_GROUP, NO_MEMBERS

CLIENT = "client"
"""All clients together."""
NOT_ASKED = "the study does not ask for them: write `sampler: {soft_interrupts: true}`"

MANY = 100
"""Packets of which some must have arrived in the window that soft interrupts are counted in. Single
ones may lie at its edge, which two samplers see at different moments."""


def charged(record: Record) -> dict[str, float]:
    """Seconds of `client`, of each database host by its name, and of `bridge`.

    Nothing where they are not known, of which `why_not` tells the reason.
    """
    found = record.soft_interrupts
    if found is None or _why_unknown(record, found):
        return {}
    clients = (host.host for host in record.usage if host.group == CLIENT_GROUP)
    databases = (host.host for host in record.usage if host.group not in NO_MEMBERS)
    return {
        CLIENT: math.fsum(found.networks[name] for name in clients),
        **{name: found.networks[name] for name in databases},
        BRIDGE: found.networks[BRIDGE],
    }


def by_metric(record: Record) -> dict[str, float]:
    """The same in seconds, by the metrics that say it for each operation."""
    found = charged(record)
    if not found:
        return {}
    databases = (used for name, used in found.items() if name not in (CLIENT, BRIDGE))
    return {
        "soft.client": found[CLIENT],
        "soft.database": math.fsum(databases),
        "soft.bridge": found[BRIDGE],
    }


def why_not(record: Record) -> str:
    """Why they are not known of a run; empty where they are, and where nobody misses them.

    Of hosts that are machines the kernel tells them as theirs. In turns, they would be of all
    deployments.
    """
    if record.soft_interrupts is not None:
        return _why_unknown(record, record.soft_interrupts)
    return NOT_ASKED if record.one_machine and not record.turns else ""


def _why_unknown(record: Record, found: SoftInterrupts) -> str:
    names = (*(host.host for host in _driven(record.usage)), BRIDGE)
    missing = [name for name in names if name not in found.networks]
    if found.absent or not missing:
        return found.absent
    return f"no network is known of {', '.join(f'`{name}`' for name in missing)}"


def credible(found: SoftInterrupts, usage: Sequence[HostUsage]) -> SoftInterrupts:
    """The same, or the reason why it has nothing for a host that received many packets.

    Threads of the kernel may take packets in, which begins no soft interrupt there.
    """
    received = [host.host for host in _driven(usage) if _received(host) >= MANY]
    names = (*received, BRIDGE) if received else ()
    silent = [name for name in names if found.networks.get(name) == 0.0]
    if found.absent or not silent:
        return found
    return SoftInterrupts(
        absent=f"packets arrived at {', '.join(f'`{name}`' for name in silent)} in no soft "
        "interrupt: threads of the kernel take them in (`cat /sys/class/net/*/threaded`)"
    )


def _driven(usage: Sequence[HostUsage]) -> list[HostUsage]:
    """The clients and the database hosts, without those that control a cluster."""
    return [host for host in usage if host.group == CLIENT_GROUP or host.group not in NO_MEMBERS]


def _received(host: HostUsage) -> float:
    return (host.whole.packets_received or 0.0) + (host.whole.inner_packets_received or 0.0)
