"""Network soft interrupts of a run, by whose packets they were for."""

from __future__ import annotations

import math

from dunnage.model.record import Record
from dunnage.model.soft_interrupts import BRIDGE
from dunnage.model.study import CLIENT_GROUP, NO_MEMBERS

CLIENT = "client"
"""All clients together."""
NOT_ASKED = "the study does not ask for them: write `sampler: {soft_interrupts: true}`"


def charged(record: Record) -> dict[str, float]:
    """CPU seconds of `client`, of each database host by its name, and of `bridge`.

    Nothing where they are not known.
    """
    found = record.soft_interrupts
    if found is None or found.absent:
        return {}
    clients = [host.host for host in record.usage if host.group == CLIENT_GROUP]
    databases = [host.host for host in record.usage if host.group not in NO_MEMBERS]
    if not {*clients, *databases, BRIDGE} <= found.networks.keys():
        return {}
    return {
        CLIENT: math.fsum(found.networks[name] for name in clients),
        **{name: found.networks[name] for name in databases},
        BRIDGE: found.networks[BRIDGE],
    }


def by_metric(record: Record) -> dict[str, float]:
    """The same in CPU seconds, by the metrics that say it for each operation."""
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
        return record.soft_interrupts.absent
    return NOT_ASKED if record.one_machine and not record.turns else ""
