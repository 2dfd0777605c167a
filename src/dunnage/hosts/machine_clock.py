"""This machine's clock, and what has been done to it since we began."""

from __future__ import annotations

import time


class MachineClock:
    """Unix time as this machine had it when this was made, going on evenly ever since.

    Somebody may set the machine's clock while a study runs. Deadlines and records go by this one,
    which cannot be set; `offset` tells how far the two have come apart.
    """

    def __init__(self) -> None:
        self._began = time.time() - time.monotonic()

    def now(self) -> float:
        return self._began + time.monotonic()

    def sleep(self, seconds: float) -> None:
        time.sleep(seconds)

    def offset(self) -> float:
        """Seconds that the machine's own clock is ahead of this one."""
        return time.time() - self.now()
