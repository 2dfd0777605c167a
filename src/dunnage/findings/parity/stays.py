"""Parity over a whole result: every stay against a stay of the baseline of its own pair."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from dunnage.findings.differences.scope import pairs
from dunnage.findings.parity.compare import compare
from dunnage.findings.parity.factors import declared
from dunnage.model.analysis import Parity
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
    for baseline, deployment in pairs(plan, reference, questions):
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


def _pairwise(
    plan: Plan, stays: Sequence[StayRecord], baseline: str, deployment: str
) -> dict[str, list[Difference]]:
    """Stay of `deployment` → what tells it from the baseline's first stay of that block.

    Where the baseline has none in that block, its stay nearest in time stands in: what it ran does
    not depend on the block. Empty where the baseline has no stay at all.
    """
    known = declared(plan.deployment(baseline), plan.deployment(deployment))
    originals = sorted(
        (stay for stay in stays if stay.deployment == baseline),
        key=lambda stay: (stay.started, stay.stay),
    )
    if not originals:
        return {}
    return {
        stay.stay: [
            item
            for item in compare(_counterpart(stay, originals), stay, known)
            if item.cause is not Cause.FACTOR
        ]
        for stay in sorted(stays, key=lambda stay: (stay.block, stay.started, stay.stay))
        if stay.deployment == deployment
    }


def _counterpart(stay: StayRecord, originals: Sequence[StayRecord]) -> StayRecord:
    """The first original of the same block, else the nearest in time."""
    own = [other for other in originals if other.block == stay.block]
    return own[0] if own else min(originals, key=lambda other: abs(other.started - stay.started))
