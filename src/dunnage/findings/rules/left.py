"""Deployments whose packets pass rules of substrates on which they do not stand. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from dunnage.model.plan import Plan
from dunnage.model.record import StayRecord
from dunnage.model.remarks import RulesLeft

_AWAKE = "awake"
"""What a stay tells of a substrate that it stands on."""


def rules_left(plan: Plan, stays: Sequence[StayRecord]) -> tuple[RulesLeft, ...]:
    """One for each deployment of which all substrates were frozen, and whose hosts have rules."""
    found = (_of(deployment.name, stays) for deployment in plan.deployments)
    return tuple(each for each in found if each is not None)


def _of(deployment: str, stays: Sequence[StayRecord]) -> RulesLeft | None:
    own = [
        stay
        for stay in stays
        if stay.deployment == deployment and _AWAKE not in stay.substrates.values()
    ]
    counts = [count for stay in own for count in stay.rules.values()]
    if not any(counts):
        return None
    return RulesLeft(
        deployment=deployment,
        made_by=tuple(dict.fromkeys(family for stay in own for family in stay.substrates)),
        least=min(counts),
        most=max(counts),
    )
