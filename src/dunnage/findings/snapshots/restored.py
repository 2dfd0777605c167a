"""Which stays started with a snapshot of loaded data, and with which one."""

from __future__ import annotations

from collections.abc import Sequence

from dunnage.model.plan import Plan
from dunnage.model.record import StayRecord
from dunnage.model.remarks import Restored


def restored(plan: Plan, stays: Sequence[StayRecord]) -> tuple[Restored, ...]:
    """Every snapshot with the deployments whose stays started with it, in the order of use.

    Two sides that started with different ones differ in how records happened to be laid out in
    files, the same in all of their blocks: whoever compares them must know.
    """
    found: dict[str, dict[str, int]] = {}
    for stay in sorted(stays, key=lambda stay: (stay.started, stay.stay)):
        if stay.restored_from is not None:
            counts = found.setdefault(stay.restored_from, {})
            counts[stay.deployment] = counts.get(stay.deployment, 0) + 1
    names = [deployment.name for deployment in plan.deployments]
    return tuple(
        Restored(made_in=made_in, stays={name: counts[name] for name in names if name in counts})
        for made_in, counts in found.items()
    )
