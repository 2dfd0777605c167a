"""Deployments whose packets pass rules of substrates on which they do not stand. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from dunnage.model.plan import Plan
from dunnage.model.record import StayRecord
from dunnage.model.remarks import RulesLeft

_AWAKE, _FROZEN = "awake", "frozen"
"""What a stay tells of a substrate that it needs, and of one that it does not."""


def rules_left(plan: Plan, stays: Sequence[StayRecord]) -> tuple[RulesLeft, ...]:
    """One for each deployment with frozen substrates on its hosts, where rules are in force there.

    It may stand on others: whatever it does, a frozen one's rules are among those of its hosts.
    """
    there = _places(stays)
    found = (_of(deployment.name, stays, there) for deployment in plan.deployments)
    return tuple(each for each in found if each is not None)


def _of(
    deployment: str, stays: Sequence[StayRecord], there: Mapping[str, set[str]]
) -> RulesLeft | None:
    own = [stay for stay in stays if stay.deployment == deployment and any(stay.rules.values())]
    frozen = (
        family
        for stay in own
        for family, state in stay.substrates.items()
        if state == _FROZEN and stay.rules.keys() & there.get(family, stay.rules.keys())
    )
    made_by = tuple(dict.fromkeys(frozen))
    if not made_by:
        return None
    counts = [count for stay in own for count in stay.rules.values()]
    return RulesLeft(deployment=deployment, made_by=made_by, least=min(counts), most=max(counts))


def _places(stays: Sequence[StayRecord]) -> Mapping[str, set[str]]:
    """Family → hosts of stays that need it, which have rules. One with other hosts than a stay's
    has made none for that; one that no stay needed may have been made anywhere."""
    found: dict[str, set[str]] = {}
    for stay in stays:
        for family, state in stay.substrates.items():
            if state == _AWAKE:
                found.setdefault(family, set()).update(stay.rules)
    return found
