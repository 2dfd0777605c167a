"""Checksums of the files of a result, as the journal keeps them.

They tell damage and changes by hand. They are no seal: who can write the result can write its
journal.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from dunnage.store.events import KEPT
from dunnage.store.layout import ResultLayout

_INSIDE = ResultLayout(Path())
_FIRST = frozenset(map(str, (_INSIDE.environment, _INSIDE.looks)))
"""Files of which a study that goes on writes one before all others."""


class Checksum(NamedTuple):
    """Of the content of a file."""

    size: int
    """Bytes."""
    sha256: str


def checksum(content: bytes) -> Checksum:
    """Return the checksum of a file's content."""
    return Checksum(len(content), hashlib.sha256(content).hexdigest())


def listed(events: Iterable[Mapping[str, Any]]) -> dict[str, list[Checksum | None]]:
    """Path inside the result → the checksums that the file may have; None: it may be missing.

    That is the newest one. A crash may come between the journal's line and the file: where nothing
    was written down after the line but what a study that goes on writes first, what was right
    before is right as well.
    """
    found: dict[str, list[Checksum | None]] = {}
    every = list(events)
    nothing: Mapping[str, Any] = {}
    for event, following in zip(every, [*every[1:], nothing], strict=False):
        files, crashed = event.get("files"), not following or goes_on(following)
        if event.get("event") != KEPT or not isinstance(files, Mapping):
            continue
        for path, entry in files.items():
            size, digest = (
                (entry.get("size"), entry.get("sha256")) if isinstance(entry, Mapping) else ("", "")
            )
            if isinstance(size, int) and isinstance(digest, str):
                before = found.get(path, [None]) if crashed else []
                found[path] = [*before, Checksum(size, digest)]
    return found


def of_runs(events: Iterable[Mapping[str, Any]]) -> dict[str, frozenset[str]]:
    """Run → the files, as paths inside the result, of the newest line that has any of the run.

    They were written before that line, all but the record.
    """
    found: dict[str, frozenset[str]] = {}
    for event in events:
        files = event.get("files")
        if event.get("event") != KEPT or not isinstance(files, Mapping):
            continue
        runs: dict[str, set[str]] = {}
        for path in files:
            if run := run_of(path):
                runs.setdefault(run, set()).add(path)
        found |= {run: frozenset(paths) for run, paths in runs.items()}
    return found


def run_of(path: str) -> str:
    """The run that a file of a result is of; empty if of none."""
    room, *rest = path.split("/")
    return rest[0] if room == str(_INSIDE.runs) and len(rest) > 1 else ""


def goes_on(event: Mapping[str, Any]) -> bool:
    """Whether this may be the first line of a study that goes on: its facts, or a look before it
    adds blocks."""
    files = event.get("files")
    written = isinstance(files, Mapping) and not _FIRST.isdisjoint(files)
    return event.get("event") == KEPT and written
