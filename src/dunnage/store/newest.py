"""Which result a directory stands for: itself, or its newest one."""

from __future__ import annotations

import shlex
from contextlib import suppress
from difflib import get_close_matches
from itertools import islice
from pathlib import Path

from dunnage.errors import NoResultError
from dunnage.model.damage import Flaw
from dunnage.store.checksums import listed
from dunnage.store.events import KEPT
from dunnage.store.journal import Journal
from dunnage.store.layout import ResultLayout
from dunnage.store.parse import DamagedError

RESULTS = Path("results")
"""Where results go unless told otherwise."""
_LEVELS = (".", "*", "*/*")
"""Where a result is: it is the directory; of a study's directory; of the directory of all."""
_MOST_FILES = 1000


def newest(path: Path) -> Path:
    """Return the result directory that a path stands for.

    Raises NoResultError when there is none, and DamagedError when the newest one has lost its plan:
    nobody who asks for the newest gets an older one without knowing it.
    """
    for level in _LEVELS:
        results = iter(sorted(_below(path, level), key=lambda each: each.name, reverse=True))
        for result in results:
            if _has_plan(result):
                return result
            if _lost_plan(ResultLayout(result)):
                if _has_plan(result):
                    return result  # a study began just now
                raise _damaged(ResultLayout(result), next(filter(_has_plan, results), None))
    layout = ResultLayout(path)
    with suppress(OSError):
        if layout.study.is_file() or layout.journal.is_file():
            raise _damaged(layout)
    raise NoResultError("there is no result here", where=str(path), hint=_near(path))


def _below(path: Path, level: str) -> list[Path]:
    if level == _LEVELS[0]:
        return [path]
    try:
        return list(path.glob(level))
    except OSError:
        return []


def _has_plan(result: Path) -> bool:
    """Whether a result has its plan, be it out of reach."""
    try:
        return ResultLayout(result).plan.exists()
    except PermissionError:
        return True
    except OSError:
        return False  # no file could have such a name


def _lost_plan(layout: ResultLayout) -> bool:
    """Whether a plan was there once; a crash may end a result before it has one."""
    events = list(Journal(layout.journal).events())
    if None not in listed(events).get(layout.plan.name, [None]):
        return True
    if any(event.get("event") not in (None, KEPT) for event in events):
        return True
    with suppress(OSError):
        return layout.stays.is_dir() and next(layout.runs.iterdir(), None) is not None
    return False


def _damaged(layout: ResultLayout, older: Path | None = None) -> DamagedError:
    """The error for a result that has lost its plan; `older` is the one before it."""
    what = "is missing: this result cannot be read"
    if older is not None:
        what += f"; the result before it is {older}"
    return DamagedError(what, layout.plan, Flaw.MISSING)


def _near(path: Path) -> str:
    """The command for the result that was probably meant; else one that makes the first result."""
    with suppress(OSError):
        if path.is_file():
            return f"dunnage run {shlex.quote(str(path))}"
        beside = islice(path.parent.iterdir(), _MOST_FILES)
        by_name = {entry.name: entry for entry in beside if entry.is_dir()}
        for name in get_close_matches(path.name, by_name):
            if _any(by_name[name]):
                return f"dunnage status {shlex.quote(str(by_name[name]))}"
    if _any(RESULTS):
        return f"dunnage status {shlex.quote(str(RESULTS))}"
    return "dunnage quickstart"


def _any(path: Path) -> bool:
    return any(_has_plan(result) for level in _LEVELS for result in _below(path, level))
