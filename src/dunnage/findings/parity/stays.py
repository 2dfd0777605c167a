"""Parity over a whole result: every stay against a stay of the baseline of its own pair."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from dunnage.findings.parity.compare import IMAGE, compare, factors, keys
from dunnage.model.analysis import Parity
from dunnage.model.deployment import Deployment
from dunnage.model.parity import Cause, Difference, FoundDifference
from dunnage.model.plan import Plan
from dunnage.model.record import StayRecord
from dunnage.model.study import QuestionSpec

_SPOILING = frozenset({Cause.UNDECLARED, Cause.UNKNOWN})


@dataclass(frozen=True)
class Checked:
    """What parity found."""

    plan: Plan
    stays: Sequence[StayRecord]
    parity: Parity
    broken: Mapping[str, tuple[Difference, ...]]
    """Stay → what spoils its runs: it ran something else than the baseline did, or may have."""

    def between(self, baseline: str, deployment: str) -> tuple[Difference, ...]:
        """Distinct differences of two deployments that are not factors under study."""
        found = _pairwise(self.plan, self.stays, baseline, deployment)
        return tuple(dict.fromkeys(item for items in found.values() for item in items))


def check_parity(
    plan: Plan, stays: Sequence[StayRecord], reference: str, questions: Iterable[QuestionSpec] = ()
) -> Checked:
    """Compare every deployment's stays with the reference's, and what each question compares."""
    differing: dict[FoundDifference, None] = {}
    broken: dict[str, dict[Difference, None]] = {}
    compared: dict[str, None] = {}
    for baseline, deployment in _pairs(plan, reference, questions):
        found = _pairwise(plan, stays, baseline, deployment)
        if found:
            compared |= {baseline: None, deployment: None}
        for stay, items in found.items():
            for item in items:
                here = FoundDifference(deployment=deployment, baseline=baseline, difference=item)
                differing[here] = None
                if item.cause in _SPOILING:
                    broken.setdefault(stay, {})[item] = None
    return Checked(
        plan,
        stays,
        Parity(compared=tuple(compared), reference=reference, differences=tuple(differing)),
        {stay: tuple(found) for stay, found in broken.items()},
    )


def _pairs(
    plan: Plan, reference: str, questions: Iterable[QuestionSpec]
) -> tuple[tuple[str, str], ...]:
    """(baseline, deployment) once each: first against the reference, then as questions ask."""
    known = [deployment.name for deployment in plan.deployments]
    asked = [(question.baseline, other) for question in questions for other in question.against]
    pairs = dict.fromkeys([*((reference, name) for name in known), *asked])
    return tuple(pair for pair in pairs if pair[0] != pair[1] and set(pair) <= set(known))


def _pairwise(
    plan: Plan, stays: Sequence[StayRecord], baseline: str, deployment: str
) -> dict[str, list[Difference]]:
    """Stay of `deployment` → what tells it from the baseline's first stay of that block.

    Where the baseline has none in that block, its stay nearest in time stands in: what it ran does
    not depend on the block. Empty where the baseline has no stay at all.
    """
    left, right = plan.deployment(baseline), plan.deployment(deployment)
    declared = _declared(left, right)
    originals = sorted(
        (stay for stay in stays if stay.deployment == baseline),
        key=lambda stay: (stay.started, stay.stay),
    )
    if not originals:
        return {}
    return {
        stay.stay: [
            item
            for item in compare(_counterpart(stay, originals), stay, declared)
            if item.cause is not Cause.FACTOR
        ]
        for stay in sorted(stays, key=lambda stay: (stay.block, stay.started, stay.stay))
        if stay.deployment == deployment
    }


def _counterpart(stay: StayRecord, originals: Sequence[StayRecord]) -> StayRecord:
    """The first original of the same block, else the nearest in time."""
    return min(
        originals,
        key=lambda other: (
            other.block != stay.block,
            0.0 if other.block == stay.block else abs(other.started - stay.started),
        ),
    )


def _declared(a: Deployment, b: Deployment) -> frozenset[str]:
    named = keys(factors(a, b))
    image = a.platform != b.platform and (a.database.image or b.database.image)
    return named | {IMAGE} if image else named
