"""The order in which a study writes its journal: what cannot be another.

A testbed is open before a stay begins, a stay is ready before its first run begins, and one run
ends before the next begins. A run gets a second record only where the journal says that it is
measured again. A crash may end the journal anywhere, so what comes last tells nothing.
The times of the lines tell nothing either: the clock of a machine may be set.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import pairwise
from typing import Any

from dunnage.store.checksums import goes_on
from dunnage.store.events import (
    AGAIN,
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

COMPLETING = 3
"""Version of a journal's line since which added blocks have theirs before a study goes on."""
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
    recorded: set[str] = set()  # in this attempt
    for event in events:
        what, stay = event.get("event"), event.get("stay")
        if not isinstance(what, str):
            continue
        if what == KEPT:
            records = {path for path in _paths(event) if _is_record(path)}
            unannounced = (_unannounced(path, begun, opened=opened) for path in _paths(event))
            if any(unannounced) or records & recorded:
                return True
            recorded |= records
            continue
        if what in (RUN_BEGINS, AGAIN, OPENED):
            recorded.clear()
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


def went_on(events: Iterable[Mapping[str, Any]], plan: str) -> bool:
    """Whether the study went on after it wrote this plan of added blocks.

    No line may say that they were added: a crash may come before it. A study that goes on then
    writes it first, which older Dunnages did not.
    """
    after: Mapping[str, Any] | None = None
    for event, following in pairwise(events):
        if event.get("event") == KEPT and plan in _paths(event):
            after = following
    return after is not None and (_completes(after) or not goes_on(after))


def _completes(event: Mapping[str, Any]) -> bool:
    """Whether this line is of a Dunnage that completes what a crash prevented before it goes on."""
    version = event.get("version")
    return isinstance(version, int) and version >= COMPLETING


def _is_record(path: str) -> bool:
    room, _, rest = path.partition("/")
    return room == "runs" and rest.endswith("/record.json")


def _paths(event: Mapping[str, Any]) -> Iterator[str]:
    files = event.get("files")
    return iter(files if isinstance(files, Mapping) else ())


def _unannounced(path: str, begun: set[object], *, opened: bool) -> bool:
    """Whether nothing before tells of what a file is of."""
    room, _, rest = path.partition("/")
    if room == "stays":
        return not opened or rest.partition("/")[0] not in begun
    return room == "runs" and not opened
