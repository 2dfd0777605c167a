"""What is done to fake hosts over a time: load that was made, processes that were held still."""

from __future__ import annotations

import math
from dataclasses import dataclass, field


@dataclass
class Work:
    """Load that was made: the samplers' counters follow from it."""

    began: float
    ended: float
    rate: float
    """Operations per second."""
    cost: dict[tuple[str, str], float] = field(default_factory=dict)
    """(host, control group) → CPU seconds per operation."""

    def operations(self, begin: float, end: float) -> float:
        """Operations that fall between two times."""
        return self.rate * max(0.0, min(end, self.ended) - max(begin, self.began))


@dataclass
class Pause:
    """Processes of one host held still for a share of the time."""

    host: str
    pids: frozenset[int]
    share: float
    period: float
    begin: float
    rest: int | None = None
    """Periods with a stop, and then as many without; None: every period has one."""
    alive: bool = True

    def holds(self, host: str, pid: int) -> bool:
        """Whether a process is among them."""
        return self.alive and host == self.host and pid in self.pids

    @property
    def average(self) -> float:
        """Share of the time, over periods with and without a stop."""
        return self.share if self.rest is None else self.share / 2

    def stopped(self, until: float) -> float:
        """Seconds of all stops until a time; each stop begins with its period."""
        passed = max(0.0, until - self.begin)
        whole = math.floor(passed / self.period + 1e-9)
        stops, stopping = whole, True
        if self.rest is not None:
            rounds, place = divmod(whole, 2 * self.rest)
            stops, stopping = rounds * self.rest + min(place, self.rest), place < self.rest
        length = self.share * self.period
        last = min(max(0.0, passed - whole * self.period), length) if stopping else 0.0
        return stops * length + last
