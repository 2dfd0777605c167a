"""What twins said over a machine's studies: how often this instrument was wrong here."""

from __future__ import annotations

from collections.abc import Iterable

from dunnage.model.analysis import Analysis
from dunnage.model.remembered import TwinsSaid


def twins_said(analysis: Analysis, result: str, time: float) -> TwinsSaid | None:
    """What the twins of an analysis said; None where they have no interval."""
    known = [found for found in analysis.twin if found.apart is not None]
    if not known:
        return None
    return TwinsSaid(
        result=result,
        study=analysis.study,
        time=time,
        metrics=len({found.metric for found in known}),
        apart=tuple(sorted({found.metric for found in known if found.apart})),
    )


def latest(lines: Iterable[TwinsSaid]) -> tuple[TwinsSaid, ...]:
    """The last line of each result, in the order in which these came."""
    found: dict[str, TwinsSaid] = {}
    for line in lines:
        found.pop(line.result, None)
        found[line.result] = line
    return tuple(found.values())
