"""Deployments whose network was not the same in all their stays. Pure."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from dunnage.findings.networks.between import between
from dunnage.model.plan import Plan
from dunnage.model.record import StayRecord
from dunnage.model.remarks import NetworkChanged
from dunnage.model.unknown import UNREAD

_ASIDE = frozenset({"translations", "proxies", UNREAD})
"""Counts of what others have there too, and what could not be read."""


def networks_changed(
    plan: Plan, stays: Sequence[StayRecord], hosts: Collection[str]
) -> tuple[NetworkChanged, ...]:
    """One for each deployment with stays whose network is known to be other than in its first.

    `hosts` are names that a fact may begin with.
    """
    found = (_of(deployment.name, stays, hosts) for deployment in plan.deployments)
    return tuple(each for each in found if each is not None)


def _of(
    deployment: str, stays: Sequence[StayRecord], hosts: Collection[str]
) -> NetworkChanged | None:
    own = sorted(
        (stay for stay in stays if stay.deployment == deployment),
        key=lambda stay: (stay.started, stay.stay),
    )
    differing = {stay.stay: between(own[0], stay, hosts).differing - _ASIDE for stay in own[1:]}
    changed = {stay: facts for stay, facts in differing.items() if facts}
    if not changed:
        return None
    return NetworkChanged(
        deployment=deployment,
        facts=tuple(sorted(frozenset().union(*changed.values()))),
        first=own[0].stay,
        stays=tuple(changed),
        of_stays=len(own),
    )
