"""A plan whose deployments are called by what was found of them. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from dunnage.model.deployment import Deployment
from dunnage.model.plan import Plan
from dunnage.model.record import StayRecord
from dunnage.model.unknown import UNKNOWN, UNREAD

_NOT_KNOWN = "on a network that is not known"
_OF_SERVICES = "proxy"
"""What of a network is read apart from it: how services are led to pods."""


def as_found(plan: Plan, stays: Sequence[StayRecord]) -> Plan:
    """The plan with other names where nobody could read back which network a deployment had: one is
    not called by what was asked for. What was asked for stays a factor."""
    unread = {stay.deployment for stay in stays if _network_is_unread(stay)}
    if not unread:
        return plan
    found = tuple(_unknown(each) if each.name in unread else each for each in plan.deployments)
    return plan.model_copy(update={"deployments": found})


def _network_is_unread(stay: StayRecord) -> bool:
    named = stay.network.get(UNREAD, _OF_SERVICES).partition(":")[0]
    return named.split(", ") != [_OF_SERVICES]


def _unknown(deployment: Deployment) -> Deployment:
    """The canonical name ends with the network where an address of the cluster is meant."""
    title, ends = deployment.title, f"_{deployment.network}"
    parts = deployment.parts
    if parts.network:
        parts = parts.model_copy(update={"network": _NOT_KNOWN})
    if title.endswith(ends):
        title = f"{title.removesuffix(ends)}_{UNKNOWN}"
    return deployment.model_copy(update={"title": title, "parts": parts})
