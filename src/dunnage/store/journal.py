"""The journal of a result, as a reader sees it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import zip_longest
from pathlib import Path
from typing import Any

from dunnage.model.damage import Damage, Flaw
from dunnage.store.events import ADDED, KEPT, OPENED
from dunnage.store.parse import DamagedError, breaks_off, text_of, there
from dunnage.store.sequence import broken

Line = Mapping[str, Any] | str
"""An event, or the text of a line that is none."""
OUT_OF_ORDER = "lines are missing, or not in their order"
_NO_CHARACTER = "\ufffd"
"""Stands where bytes were no text; the lines that we write are ASCII."""
_BEGINNING = '{"version"'
"""How a line begins. A crash may have cut off what follows."""


class Journal:
    """Keeps what was read, and reads anew only after the file changed: a study may go on."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._state: tuple[int, ...] | None = None
        self._lines: Sequence[Line] = ()
        self._flaw: DamagedError | None = None
        """Why the file cannot be read."""

    def events(self) -> Iterator[Mapping[str, Any]]:
        """Line by line; a line that is no event is passed over."""
        return (line for line in self._read() if isinstance(line, Mapping))

    @property
    def announced(self) -> frozenset[int]:
        """The numbers of all plans that were added."""
        told = (event.get("plan") for event in self.events() if event.get("event") == ADDED)
        return frozenset(number for number in told if isinstance(number, int))

    def last_plan(self) -> int:
        """The highest number of a plan that was added; 1 where none was."""
        return max(self.announced, default=1)

    @property
    def damage(self) -> Damage | None:
        """What is wrong with it, beside a line that a crash cut off."""
        file = self._path.name
        if not there(self._path):
            return Damage(file=file, flaw=Flaw.MISSING)
        every = self._read()
        if self._flaw is not None:
            return Damage(file=file, flaw=self._flaw.flaw, detail=self._flaw.detail)
        if not every:  # its first line comes before the plan's file
            return Damage(file=file, flaw=Flaw.TRUNCATED, detail="it is empty")
        bad = sum(
            isinstance(line, str) and not (_cut_off(line) and _begins_anew(following))
            for line, following in zip_longest(every, every[1:])
        )
        if bad:
            lines = "1 line" if bad == 1 else f"{bad} lines"
            return Damage(file=file, flaw=Flaw.GARBLED, detail=lines)
        if self.has_checksums and broken(self.events()):
            return Damage(file=file, flaw=Flaw.CHANGED, detail=OUT_OF_ORDER)
        return None

    @property
    def has_checksums(self) -> bool:
        """Whether the result was begun by a version that keeps checksums."""
        first: Mapping[str, Any] = next(self.events(), {})
        version = first.get("version")
        return isinstance(version, int) and version > 1

    def _read(self) -> Sequence[Line]:
        state = self._now()
        if state is None or state != self._state:
            self._state = state  # before the lines: what comes meanwhile is read next time
            try:
                text, self._flaw = text_of(self._path), None
            except DamagedError as error:
                text, self._flaw = "", error
            self._lines = [_event(line) for line in text.splitlines() if line.strip()]
        return self._lines

    def _now(self) -> tuple[int, ...] | None:
        """What tells the file from what it was before; None where that is not known."""
        try:
            state = self._path.stat()
        except OSError:
            return None
        return state.st_dev, state.st_ino, state.st_size, state.st_mtime_ns


def _cut_off(line: str) -> bool:
    """Whether a line is the beginning of one of ours, and no whole one of something else."""
    return line.startswith(_BEGINNING) and breaks_off(line)


def _begins_anew(following: Line | None) -> bool:
    """Whether a crash may have cut off the line before this one: it is the last, or a study goes on
    after it."""
    return following is None or (
        isinstance(following, Mapping) and following.get("event") in (OPENED, KEPT)
    )


def _event(line: str) -> Line:
    try:
        event = json.loads(line)
    except (ValueError, RecursionError):
        return line
    ours = isinstance(event, dict) and _is_ours(event) and _NO_CHARACTER not in line
    return event if ours else line


def _is_ours(event: Mapping[str, Any]) -> bool:
    """Whether it has what each line of a journal has, of whatever version."""
    version = event.get("version")
    counts = isinstance(version, int) and not isinstance(version, bool) and version > 0
    return counts and isinstance(event.get("event"), str)
