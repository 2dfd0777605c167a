"""Ctrl-C once, or the terminal is closed: finish the step, tear down. Twice: tear down now."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from queue import SimpleQueue
from threading import Thread
from types import FrameType
from typing import Self, TypeVar

from dunnage.errors import ExitCode, InterruptedRunError
from dunnage.runner.rest import OF_A_LAB

Entered = TypeVar("Entered")

ENDING = "ending after the current run; Ctrl-C again ends it now"
ENDING_NOW = "ending now; what was started is removed first"
LEAVING = "still removing what was started, then it ends; Ctrl-C again ends it at once, and then {}"
"""What follows is how the rest is removed."""
_PATIENCE = 2.0
"""Seconds in which the last words are told, at most: a stopped terminal takes none."""
_SHOW_CURSOR = b"\x1b[?25h"
"""What a terminal needs where a progress bar cannot put it in order any more."""


class Stop:
    """Turns signals into a wish that the runner asks about between steps.

    While it is entered, the first SIGINT, SIGTERM or SIGQUIT only sets `requested`; a second one
    raises KeyboardInterrupt where the program stands, so that every `with` is left. What is being
    removed then, or in a scope of `until_left`, is not disturbed: the user is told, and only a
    signal after that ends the process at once. SIGHUP, the end of the terminal, counts once however
    often it comes: a shell and the kernel both send it. A signal that was ignored from the start,
    as under `nohup` or in a script's background, stays so.

    A signal may come while a stream is written, and whoever writes it then as well fails. So `tell`
    is called by a thread. Where it fails or waits for its reader, signals act alike.
    """

    def __init__(self, tell: Callable[[str], None] = lambda _: None, rest: str = OF_A_LAB) -> None:
        """`rest` says what removes the rest of what was started, where this process is ended."""
        self.count = 0
        self._tell = tell
        self._rest = rest
        self._at_once = False
        self._ended = False
        self._being_left = 0
        self._warned = False
        self._words: SimpleQueue[str | None] = SimpleQueue()  # may be put to by a signal's handler
        self._teller = Thread(target=self._tell_all, daemon=True)
        self._before: dict[int, object] = {}

    @property
    def requested(self) -> bool:
        """Whether the user wants the study to end."""
        return self.count > 0

    def check(self) -> None:
        """Raise InterruptedRunError if the user wants the study to end."""
        if self.requested:
            self._ended = True
            raise InterruptedRunError("stopped by the user; every finished run is kept")

    @contextmanager
    def at_once(self) -> Iterator[None]:
        """Let the first signal raise KeyboardInterrupt: nothing runs that could be finished."""
        self._at_once = True
        try:
            self.check()
            yield
        finally:
            self._at_once = False

    @contextmanager
    def until_left(self, scope: AbstractContextManager[Entered]) -> Iterator[Entered]:
        """Enter a scope that no signal disturbs while it is left."""
        leaving = False
        try:
            with scope as entered:
                try:
                    yield entered
                finally:
                    self._being_left += 1
                    leaving = True
        finally:
            self._being_left -= leaving

    def __enter__(self) -> Self:
        self._teller.start()
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGQUIT, signal.SIGHUP):
            if signal.getsignal(number) is not signal.SIG_IGN:
                self._before[number] = signal.signal(number, self._received)
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self._before.items():
            ends = self.requested and handler is signal.SIG_DFL and number != signal.SIGHUP
            # It is ending: one that comes now is heard as Ctrl-C is, and does not kill it.
            after = signal.default_int_handler if ends else handler
            signal.signal(number, after)  # type: ignore[arg-type]
        self._words.put(None)
        self._teller.join(_PATIENCE)

    def _received(self, number: int, _frame: FrameType | None) -> None:
        if number == signal.SIGHUP and self.requested:
            return
        self.count += 1
        if self._warned:
            _end()
        elif self._ended or self._being_left:
            self._warned = True
            self._words.put(LEAVING.format(self._rest))
        elif self._at_once or self.count > 1:
            self._ended = True
            self._words.put(ENDING_NOW)
            raise KeyboardInterrupt
        else:
            self._words.put(ENDING)

    def _tell_all(self) -> None:
        for words in iter(self._words.get, None):
            with suppress(Exception):  # its stream is gone; nobody else could be told
                self._tell(words)


def _end() -> None:
    """End this process; what a lab of it runs ends with it."""
    try:
        if os.isatty(2):
            os.write(2, _SHOW_CURSOR)
    finally:  # the terminal may be gone
        os._exit(ExitCode.INTERRUPTED)
