"""Parity over a whole result: every stay against the baseline's stay of the same block."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from dunnage.analysis.parity import IMAGE, Cause, Difference, compare, factors, keys
from dunnage.model.analysis import Parity
from dunnage.model.plan import Plan
from dunnage.model.record import StayRecord
from dunnage.model.study import Deployment


@dataclass(frozen=True)
class Checked:
    """What parity found."""

    plan: Plan
    stays: Sequence[StayRecord]
    parity: Parity
    broken: Mapping[str, tuple[str, ...]]
    """Stay → undeclared differences: it ran something else than the baseline did."""

    def between(self, baseline: str, deployment: str) -> tuple[str, ...]:
        """Distinct differences of two deployments that are not factors under study."""
        found = _pairwise(self.plan, self.stays, baseline, deployment)
        return tuple(dict.fromkeys(item.text for items in found.values() for item in items))


def check_parity(plan: Plan, stays: Sequence[StayRecord], baseline: str) -> Checked:
    """Compare every deployment's stays with the baseline's."""
    sentences: dict[str, None] = {}
    broken: dict[str, tuple[str, ...]] = {}
    compared = []
    for deployment in plan.deployments:
        if deployment.name == baseline:
            continue
        found = _pairwise(plan, stays, baseline, deployment.name)
        if found:
            compared.append(deployment.name)
        for stay, items in found.items():
            sentences |= {f"{deployment.name}: {item.text}": None for item in items}
            undeclared = tuple(item.text for item in items if item.cause is Cause.UNDECLARED)
            if undeclared:
                broken[stay] = undeclared
    names = (baseline, *compared) if compared else ()
    return Checked(plan, stays, Parity(compared=names, differences=tuple(sentences)), broken)


def _pairwise(
    plan: Plan, stays: Sequence[StayRecord], baseline: str, deployment: str
) -> dict[str, list[Difference]]:
    """Stay of `deployment` → what tells it from the baseline's first stay of that block."""
    left, right = plan.deployment(baseline), plan.deployment(deployment)
    declared = _declared(left, right)
    first: dict[int, StayRecord] = {}
    for stay in sorted(stays, key=lambda stay: (stay.started, stay.stay)):
        if stay.deployment == baseline:
            first.setdefault(stay.block, stay)
    return {
        stay.stay: [
            item
            for item in compare(first[stay.block], stay, declared)
            if item.cause is not Cause.FACTOR
        ]
        for stay in sorted(stays, key=lambda stay: (stay.block, stay.started, stay.stay))
        if stay.deployment == deployment and stay.block in first
    }


def _declared(a: Deployment, b: Deployment) -> frozenset[str]:
    named = keys(factors(a, b))
    image = a.platform != b.platform and (a.database.image or b.database.image)
    return named | {IMAGE} if image else named
