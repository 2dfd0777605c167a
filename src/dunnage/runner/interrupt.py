"""Ctrl-C once, or the terminal is closed: finish the step, tear down. Twice: tear down now."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Self

from dunnage.errors import InterruptedRunError


class Stop:
    """Turns signals into a wish that the runner asks about between steps.

    While it is entered, the first SIGINT or SIGTERM only sets `requested`; a second one raises
    KeyboardInterrupt where the program stands, so that every `with` is left; a third does nothing,
    because tearing down must not be interrupted. SIGHUP, the end of the terminal, counts once
    however often it comes: a shell and the kernel both send it. Who ignored it from the start, as
    under `nohup`, goes on.
    """

    def __init__(self, tell: Callable[[str], None] = lambda _: None) -> None:
        self.count = 0
        self._tell = tell
        self._at_once = False
        self._before: dict[int, object] = {}

    @property
    def requested(self) -> bool:
        """Whether the user wants the study to end."""
        return self.count > 0

    def check(self) -> None:
        """Raise InterruptedRunError if the user wants the study to end."""
        if self.requested:
            raise InterruptedRunError("stopped by the user; every finished run is kept")

    @contextmanager
    def at_once(self) -> Iterator[None]:
        """Let the first signal raise InterruptedRunError: nothing runs that could be finished."""
        self._at_once = True
        try:
            self.check()
            yield
        finally:
            self._at_once = False

    def __enter__(self) -> Self:
        for number in (signal.SIGINT, signal.SIGTERM):
            self._before[number] = signal.signal(number, self._received)
        if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:
            self._before[signal.SIGHUP] = signal.signal(signal.SIGHUP, self._received)
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)  # type: ignore[arg-type]

    def _received(self, number: int, _frame: FrameType | None) -> None:
        if number == signal.SIGHUP and self.requested:
            return
        self.count += 1
        if self.count == 1 and self._at_once:
            self.check()
        if self.count == 1:
            self._tell("ending after the current run; Ctrl-C again ends it now")
        if self.count == 2:
            raise KeyboardInterrupt
