"""The order in which a study writes its journal: what cannot be another.

A testbed is open before a stay begins, a stay is ready before its first run begins, and one run
ends before the next begins. A crash may end the journal anywhere, so what comes last tells nothing.
The times of the lines tell nothing either: the clock of a machine may be set.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

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


def _paths(event: Mapping[str, Any]) -> Iterator[str]:
    files = event.get("files")
    return iter(files if isinstance(files, Mapping) else ())


def _unannounced(path: str, begun: set[object], *, opened: bool) -> bool:
    """Whether nothing before tells of what a file is of."""
    room, _, rest = path.partition("/")
    if room == "stays":
        return not opened or rest.partition("/")[0] not in begun
    return room == "runs" and not opened
