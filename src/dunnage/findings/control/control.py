"""The negative control: what no deployment can change must not differ between deployments.

Where it does, time and deployment are not told apart: the order of the blocks, what one stay leaves
behind for the next, or the machine decided, and every other difference is in doubt as well.
"""

from __future__ import annotations

from collections.abc import Iterable

from dunnage.analysis import looks
from dunnage.analysis.estimate import Paired, block_logs
from dunnage.model.analysis import ControlDifference
from dunnage.model.plan import Plan
from dunnage.model.record import StayRecord


def control(
    plan: Plan, stays: Iterable[StayRecord], reference: str, look: int
) -> tuple[ControlDifference, ...]:
    """Every control of every deployment against `reference`, all intervals together.

    Empty where stays have no control. Of several stays in a block the later ones count, but none
    that measured a deployment alone: its control is from after all the others.
    """
    alone = [block.alone.id for block in plan.blocks if block.alone is not None]
    values: dict[str, dict[str, dict[int, float]]] = {}
    for stay in sorted(stays, key=lambda stay: stay.started):
        if any(stay.stay == name or stay.stay.startswith(f"{name}.") for name in alone):
            continue
        for name, rate in stay.control.items():
            values.setdefault(name, {}).setdefault(stay.deployment, {})[stay.block] = rate
    logs = {
        name: {deployment: block_logs(found.items()) for deployment, found in of.items()}
        for name, of in values.items()
    }
    pairs = [
        (name, deployment.name, Paired.of(of[deployment.name], of[reference]))
        for name, of in sorted(logs.items())
        for deployment in plan.deployments
        if deployment.name != reference and deployment.name in of and reference in of
    ]
    differences = [
        (name, deployment, looks.difference(paired, look, len(pairs)))
        for name, deployment, paired in pairs
    ]
    return tuple(
        ControlDifference(
            control=name, deployment=deployment, baseline=reference, difference=difference
        )
        for name, deployment, difference in differences
        if difference is not None
    )
