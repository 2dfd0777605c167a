"""In which stays programs of a lab's Kubernetes were restarted."""

from __future__ import annotations

from collections.abc import Iterable

from dunnage.analysis.groups import grouped
from dunnage.model.record import Record
from dunnage.model.remarks import Restarted


def restarted(records: Iterable[Record]) -> tuple[Restarted, ...]:
    """One for each such stay, as far as its runs tell, in the order of the runs.

    A record has all that was restarted from the start of its stay to the end of its run. So one
    record has what all others of the stay have, and nothing is counted twice.
    """
    hit = [record for record in records if record.restarts]
    return tuple(
        Restarted(
            stay=stay,
            block=found[0].block,
            deployment=found[0].deployment,
            restarts=max((record.restarts or () for record in found), key=len),
        )
        for stay, found in grouped(hit, lambda record: record.stay).items()
    )
