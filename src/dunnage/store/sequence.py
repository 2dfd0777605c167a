"""The order in which a study writes its journal and makes its runs: what cannot be another.

Each line is on the disk before what it tells of happens, and one run ends before the next begins. A
crash may end the journal anywhere, so what comes last tells nothing. The times of the lines tell
nothing either: the clock of a machine may be set. Those of records can be compared while one
testbed is open: its clock cannot be set.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

from dunnage.model.record import Record
from dunnage.store.events import (
    BEGINNINGS,
    FAILED,
    FINISHED,
    KEPT,
    LEFT,
    OPENED,
    READY,
    RUN_BEGINS,
    STAY_FAILED,
    STUDY_FINISHED,
)

_OVER = (FINISHED, FAILED, STAY_FAILED, OPENED)
"""After these, no run goes on."""
_BETWEEN = (RUN_BEGINS, LEFT, STUDY_FINISHED)
"""These come while no run goes on."""
_INSIDE = (*BEGINNINGS, RUN_BEGINS, FINISHED, FAILED, READY, LEFT, STUDY_FINISHED)
"""These come while a testbed is open."""


def broken(events: Iterable[Mapping[str, Any]]) -> bool:
    """Whether lines of a journal are missing or not in their order, as far as the others tell."""
    opened = going_on = False
    begun: set[object] = set()
    ready: set[object] = set()
    for event in events:
        what, stay = event.get("event"), event.get("stay")
        if not isinstance(what, str):
            continue
        if what == KEPT:
            if any(_unannounced(path, begun, opened=opened) for path in _paths(event)):
                return True
            continue
        named = isinstance(stay, str)
        if what in _INSIDE and not opened and (named or what == STUDY_FINISHED):
            return True
        if named and (
            (what == READY and stay not in begun)
            or (what in (RUN_BEGINS, FINISHED, FAILED, LEFT) and stay not in ready)
        ):
            return True
        if going_on and what in _BETWEEN:
            return True
        opened |= what == OPENED
        going_on = what == RUN_BEGINS or (going_on and what not in _OVER)
        if named and what in BEGINNINGS:
            begun.add(stay)
        if named and what == READY:
            ready.add(stay)
    return False


def untimely(events: Iterable[Mapping[str, Any]], records: Sequence[Record]) -> frozenset[str]:
    """Runs whose record tells of another time than the journal: they end before they begin, or
    overlap with runs that came before or after them.

    Of runs that contradict one another, as few as possible are named.
    """
    known = {record.run: record for record in records}
    found = {run for run, record in known.items() if not record.started <= record.ended}
    for part in _parts(events, known.keys() - found):
        spans = [
            (min(known[run].started for run in runs), max(known[run].ended for run in runs))
            for runs in part
        ]
        fitting = set(_chain(spans))
        found |= {run for at, runs in enumerate(part) if at not in fitting for run in runs}
    return frozenset(found)


def _parts(
    events: Iterable[Mapping[str, Any]], known: Collection[str]
) -> Iterator[Sequence[Sequence[str]]]:
    """For each time that a testbed was open: the runs that were finished then, those that were
    measured together in one. Of a run that was finished twice, the last time counts."""
    whole: list[list[list[str]]] = [[[]]]
    last: dict[str, list[str]] = {}
    for event in events:
        what, run = event.get("event"), event.get("run")
        if what == OPENED:
            whole.append([[]])
        elif what == RUN_BEGINS:
            whole[-1].append([])
        elif what == FINISHED and isinstance(run, str) and run in known:
            if run in last:
                last[run].remove(run)
            whole[-1][-1].append(run)
            last[run] = whole[-1][-1]
    for part in whole:
        if measured := [runs for runs in part if runs]:
            yield measured


def _chain(spans: Sequence[tuple[float, float]]) -> Iterator[int]:
    """Which of these spans of time, as many as possible, each end before the next one begins."""
    ends: list[float] = []
    """Of the chains of each length, the earliest end."""
    last: list[int] = []
    """The span that it is of."""
    before: list[int | None] = []
    for at, (begin, end) in enumerate(spans):
        length = bisect_right(ends, begin)
        before.append(last[length - 1] if length else None)
        if length == len(ends):
            ends.append(end)
            last.append(at)
        elif end < ends[length]:
            ends[length], last[length] = end, at
    step = last[-1] if last else None
    while step is not None:
        yield step
        step = before[step]


def _paths(event: Mapping[str, Any]) -> Iterator[str]:
    files = event.get("files")
    return iter(files if isinstance(files, Mapping) else ())


def _unannounced(path: str, begun: set[object], *, opened: bool) -> bool:
    """Whether nothing before tells of what a file is of."""
    room, _, rest = path.partition("/")
    if room == "stays":
        return not opened or rest.partition("/")[0] not in begun
    return room == "runs" and not opened
