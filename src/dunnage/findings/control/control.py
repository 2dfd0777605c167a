"""The negative control: what no deployment can change must not differ between deployments.

Where it does, time and deployment are not told apart: the order of the blocks, what one stay leaves
behind for the next, or the machine decided, and every other difference is in doubt as well.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from dunnage.analysis import looks
from dunnage.analysis.groups import grouped
from dunnage.analysis.intervals import Paired, block_logs
from dunnage.model.control import ControlDifference, ControlMoment
from dunnage.model.plan import Plan
from dunnage.model.record import Record, StayRecord


class _Rate(NamedTuple):
    """One reading of one part of the control."""

    control: str
    deployment: str
    block: int
    rate: float


def control(
    plan: Plan, stays: Iterable[StayRecord], records: Iterable[Record], reference: str, look: int
) -> tuple[ControlDifference, ...]:
    """Every control of every deployment against `reference`, all intervals together.

    Of several readings in a block the mean of logarithms counts. Empty where there is no control.
    """
    in_turns = list(_after_turns(records))
    rates = in_turns or list(_before_stays(plan, stays))
    logs = {
        place: block_logs((each.block, each.rate) for each in found)
        for place, found in grouped(rates, lambda rate: (rate.control, rate.deployment)).items()
    }
    pairs = [
        (name, each.name, Paired.of(logs[name, each.name], logs[name, reference]))
        for name in sorted({name for name, _ in logs})
        for each in plan.deployments
        if each.name != reference and {(name, each.name), (name, reference)} <= logs.keys()
    ]
    return tuple(
        ControlDifference(
            control=name,
            moment=ControlMoment.AFTER_TURN if in_turns else ControlMoment.BEFORE_STAY,
            deployment=deployment,
            baseline=reference,
            difference=difference,
        )
        for name, deployment, paired in pairs
        if (difference := looks.difference(paired, look, len(pairs))) is not None
    )


def _after_turns(records: Iterable[Record]) -> Iterator[_Rate]:
    for record in records:
        for turn in record.turns:
            for name, rate in (turn.control or {}).items():
                yield _Rate(name, record.deployment, record.block, rate)


def _before_stays(plan: Plan, stays: Iterable[StayRecord]) -> Iterator[_Rate]:
    """Of several stays in a block the last one's, but of none that measured a deployment alone:
    its control is from after all the others."""
    alone = [block.alone.id for block in plan.blocks if block.alone is not None]
    last: dict[tuple[str, int], StayRecord] = {}
    for stay in sorted(stays, key=lambda stay: stay.started):
        if not any(stay.stay == name or stay.stay.startswith(f"{name}.") for name in alone):
            last[stay.deployment, stay.block] = stay
    for stay in last.values():
        for name, rate in stay.control.items():
            yield _Rate(name, stay.deployment, stay.block, rate)
