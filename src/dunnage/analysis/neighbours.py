"""What it costs a deployment that others live beside it, where load comes in turns.

In each block one deployment is measured by itself as well, another one in every block. If the
others cost it something in its turns, they may cost one more than another, and then turns would say
what neighbours do and not what platforms do.
"""

from __future__ import annotations

from collections.abc import Iterable

from dunnage.analysis import looks
from dunnage.analysis.estimate import Paired, block_logs
from dunnage.analysis.values import values
from dunnage.model.analysis import NeighbourCost
from dunnage.model.metrics import IN_TURNS
from dunnage.model.record import Record, Status


def neighbours(
    records: Iterable[Record], alone: Iterable[Record], look: int = 1
) -> tuple[NeighbourCost, ...]:
    """In turns over alone, paired over blocks, of every metric that turns tell.

    Workloads and levels of a block are averaged. Empty where nothing was measured alone.
    """
    single = [record for record in alone if record.status is Status.VALID]
    keys = {_key(record) for record in single}
    beside = [r for r in records if r.status is Status.VALID and _key(r) in keys]
    both = {_key(record) for record in beside}
    found = []
    for metric in IN_TURNS:
        sides = [
            block_logs(
                (record.block, values(record)[metric])
                for record in side
                if _key(record) in both and metric in values(record)
            )
            for side in (beside, single)
        ]
        difference = looks.difference(Paired.of(*sides), look)
        if difference is not None:
            found.append(NeighbourCost(metric=metric, difference=difference))
    return tuple(found)


def _key(record: Record) -> tuple[int, str, str, str]:
    return record.block, record.deployment, record.workload.name, record.level.name
