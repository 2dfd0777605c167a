"""Waiting until nothing is late any more.

By the clock of the hosts, which in fakes is none that others have: a `Deadline` goes by this
machine's.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from dunnage.contracts.host import Clock

T = TypeVar("T")


def still_late(
    late: Callable[[], T], clock: Clock, *, seconds: float, interval: float, steady: float = 0.0
) -> T | None:
    """Ask until nothing is `late`, for `steady` seconds without a break; returns None then.

    Returns what is late where something is when the seconds are over.
    """
    ends = clock.now() + seconds
    since: float | None = None
    while True:
        found, now = late(), clock.now()
        if found:
            since = None
            if now >= ends:
                return found
        else:
            since = now if since is None else since
            if now - since >= steady:
                return None
        clock.sleep(interval)
