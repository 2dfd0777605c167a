"""In which stays programs of an orchestrator were restarted."""

from __future__ import annotations

from collections.abc import Iterable

from dunnage.analysis.groups import grouped
from dunnage.model.analysis import Restarted
from dunnage.model.record import Record, Restart


def restarted(records: Iterable[Record]) -> tuple[Restarted, ...]:
    """One for each such stay, as far as its runs tell, in the order of the runs.

    A stay had to do with more than others had: whoever compares it must know.
    """
    hit = [record for record in records if record.restarts]
    return tuple(
        Restarted(
            stay=stay,
            block=found[0].block,
            deployment=found[0].deployment,
            restarts=tuple(sorted({r for record in found for r in record.restarts or ()}, key=_at)),
        )
        for stay, found in grouped(hit, lambda record: record.stay).items()
    )


def _at(restart: Restart) -> tuple[float, str, str]:
    return restart.time, restart.host, restart.program
