"""How far a stage has come: one changing line on a terminal, a line a minute elsewhere."""

from __future__ import annotations

import shutil
import sys
import time

from gate.closing import duration
from gate.outcome import State, Told
from gate.stages import Stage

_TERMINAL = 0.2
_ELSEWHERE = 60.0
"""Seconds between two lines."""


class Progress:
    """Shows one stage while it runs; `told` is what is known of it by now."""

    def __init__(self, place: int, of: int, stage: Stage) -> None:
        self._head = f"[{place:2}/{of}] {stage.name:<12}"
        self._terminal = sys.stdout.isatty()
        self.told = Told()
        self._started = self._shown = time.monotonic()
        if self._terminal:
            self._show(Told())

    def __call__(self, told: Told) -> None:
        """Show what is known by now, if it is time."""
        self.told = told
        if time.monotonic() - self._shown >= (_TERMINAL if self._terminal else _ELSEWHERE):
            self._show(told)

    def clear(self) -> None:
        """Make room for the line that says how the stage ended."""
        if self._terminal:
            print("\r\x1b[K", end="", flush=True)

    def _show(self, told: Told) -> None:
        self._shown = time.monotonic()
        words = f"{self._head} {duration(self._shown - self._started):>12}"
        if told.collected:
            failed = sum(each.state is State.FAILED for each in told.ended.values())
            words += f"  {len(told.ended)} of {len(told.collected)} tests, {failed} failed"
            words += "".join(f", now {test.rpartition('::')[2]}" for test in list(told.started)[:1])
        print(
            f"\r\x1b[K{words[: shutil.get_terminal_size().columns - 1]}"
            if self._terminal
            else words,
            end="",
            flush=True,
        )
        if not self._terminal:
            print(flush=True)
