"""Which result a directory stands for: itself, or its newest one."""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from difflib import get_close_matches
from itertools import islice
from math import isfinite
from pathlib import Path
from typing import Any

from dunnage.errors import NoResultError
from dunnage.model.damage import Flaw
from dunnage.store.checksums import listed
from dunnage.store.events import KEPT
from dunnage.store.journal import Journal
from dunnage.store.layout import ResultLayout
from dunnage.store.parse import DamagedError, ForbiddenError
from dunnage.store.regular import regular_bytes

RESULTS = Path("results")
"""Where results go unless told otherwise."""
_MOST_FILES = 1000
_STAMP = "%Y-%m-%dT%H-%M-%SZ"
"""How the name of a result begins, unless somebody gave it another."""
_STAMP_LETTERS = len("2026-01-31T12-00-00Z")
_FIRST_LINE = 10_000
"""Bytes in which the first line of a journal ends."""


def newest(path: Path) -> Path:
    """Return the result directory that a path stands for.

    The newest one is the one that began last, whatever it is called and wherever it is. Raises
    NoResultError when there is none, ForbiddenError for a link that this user may not follow, and
    DamagedError when the newest one has lost its plan: nobody who asks for the newest gets an older
    one without knowing it.
    """
    if not _can_be_followed(path):
        raise ForbiddenError(ResultLayout(path).plan)
    if _has_plan(path):
        return path
    if _lost_plan(ResultLayout(path)):
        return _unless_lost(path, ())
    results = sorted(_below(path), key=_began, reverse=True)
    if results:
        alike = [each for each in results if _began(each) == _began(results[0])]
        latest = max(alike, key=_went_on)
        return _unless_lost(latest, [each for each in results if each != latest])
    layout = ResultLayout(path)
    with suppress(OSError):
        if layout.study.is_file() or layout.journal.is_file():
            raise _damaged(layout)
    raise _none(path)


def around(path: Path) -> Path | None:
    """The result that a path leads into, or is; None where it leads into none, or nowhere."""
    try:
        real = Path(os.path.realpath(path))
    except (OSError, ValueError):
        return None
    return next((each for each in (real, *real.parents) if _is_result(each)), None)


def beside(result: Path) -> Path:
    """A directory for results that is in none: where this one lies with those of other studies, or
    where somebody put it."""
    outermost = [each for each in (result, *result.parents) if _is_result(each)][-1]
    place = outermost.parent
    return place.parent if place.name == _study(outermost) else place


def _study(result: Path) -> str:
    """The name of the study that a result is of; empty where its plan does not tell."""
    with suppress(OSError, ValueError, RecursionError):
        plan = json.loads(regular_bytes(ResultLayout(result).plan))
        return str(plan.get("study", "")) if isinstance(plan, dict) else ""
    return ""


def _below(path: Path) -> list[Path]:
    """The results in a study's directory, or in that of all studies."""
    found = []
    for entry in _entries(path):
        if _is_result(entry):
            found.append(entry)
        else:
            found += filter(_is_result, _entries(entry))
    return found


def _entries(path: Path) -> list[Path]:
    try:
        return list(filter(_can_be_followed, path.glob("*")))
    except OSError:
        return []


def _can_be_followed(entry: Path) -> bool:
    """Whether it is no link, or one that tells where it leads: some in `/proc` tell only a few."""
    try:
        link = entry.is_symlink()
    except OSError:
        return True  # what it is, is seen later
    with suppress(PermissionError):
        return not link or bool(entry.readlink())
    return False


def _is_result(path: Path) -> bool:
    return _has_plan(path) or _lost_plan(ResultLayout(path))


def _unless_lost(result: Path, older: Sequence[Path]) -> Path:
    if _has_plan(result):
        return result  # it had its plan all along, or a study began just now
    raise _damaged(ResultLayout(result), next(filter(_has_plan, older), None))


def _began(result: Path) -> float:
    """When a result began, as Unix time: the journal's first line tells it, or else its name, or
    else its plan's file."""
    layout = ResultLayout(result)
    try:
        first = json.loads(regular_bytes(layout.journal, _FIRST_LINE).split(b"\n")[0])
    except (OSError, ValueError, RecursionError):
        first = None
    times = _times([first] if isinstance(first, dict) else [])
    return times[0] if times else _named_time(result.name) or _written(layout.plan)


def _went_on(result: Path) -> tuple[float, str]:
    """When the last line of the journal was written, as Unix time, and the result's path.

    A copy began when the original did: the one with which somebody went on is the newer. Two that
    this does not tell apart either are the same.
    """
    times = _times(Journal(ResultLayout(result).journal).events())
    return max(times, default=0.0), str(result)


def _times(events: Iterable[Mapping[str, Any]]) -> list[float]:
    told = (event.get("time") for event in events)
    return [time for time in told if isinstance(time, int | float) and isfinite(time)]


def _named_time(name: str) -> float:
    """The time with which the name of a result begins; 0 where it begins with none."""
    try:
        began = datetime.strptime(name[:_STAMP_LETTERS], _STAMP)
    except ValueError:
        return 0.0
    return began.replace(tzinfo=UTC).timestamp()


def _written(path: Path) -> float:
    """When a file was written last; 0 where nobody knows."""
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0


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


def _none(path: Path) -> NoResultError:
    """The error for a path that leads to no result, but perhaps into one."""
    what, result = "there is no result here", _whole(path)
    if result is None:
        return NoResultError(what, where=str(path), hint=_near(path))
    hint = f"dunnage report {shlex.quote(str(result))}"
    error = NoResultError(what, where=str(path), hint=hint)
    error.inside = str(result)
    return error


def _whole(path: Path) -> Path | None:
    """The result that a path leads into, as short as the path has it."""
    found = around(path)
    if found is None:
        return None
    return next((each for each in path.parents if Path(os.path.realpath(each)) == found), found)


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
    return any(map(_has_plan, (path, *_below(path))))
