"""The clock of fake hosts."""

from __future__ import annotations

import heapq
import itertools
import threading
from collections.abc import Callable


class VirtualClock:
    """Time that passes only when somebody sleeps or waits, with events due on the way.

    It passes for one thread after the other.
    """

    def __init__(self, start: float) -> None:
        self._now = start
        self._events: list[tuple[float, int, Callable[[], None]]] = []
        self._order = itertools.count()
        self._turn = threading.RLock()

    def now(self) -> float:
        return self._now

    def sleep(self, seconds: float) -> None:
        """Let `seconds` pass at once; everything that is due in them happens in order."""
        self.advance(seconds, lambda: False)

    def at(self, time: float, event: Callable[[], None]) -> None:
        """Let `event` happen at `time`, or with the next passing of time if that is over."""
        with self._turn:
            heapq.heappush(self._events, (time, next(self._order), event))

    def advance(self, seconds: float, done: Callable[[], bool]) -> None:
        """Let time pass until `done`, or until `seconds` are over."""
        with self._turn:
            limit = self._now + max(0.0, seconds)
            while not done():
                if not self._events or self._events[0][0] > limit:
                    self._now = limit
                    return
                due, _, event = heapq.heappop(self._events)
                self._now = max(self._now, due)
                event()
