"""An API server that is away for a while, as it is when it is restarted."""

from __future__ import annotations

import time

import httpx2

AWAY = 60.0
"""Seconds for which an API server is waited for, whatever it is asked meanwhile."""
_TOO_MANY, _FAILED = 429, 500
"""HTTP status of a server that cannot answer yet, and the first of one that fails."""


def is_away(refusal: BaseException | None) -> bool:
    """Whether a server may answer the same question soon.

    It may not listen yet. One that fails may be waiting for its etcd. One that has just started
    answers that there are too many requests, until it has read what it keeps in memory.
    """
    if isinstance(refusal, httpx2.HTTPStatusError):
        status = refusal.response.status_code
        return status == _TOO_MANY or status >= _FAILED
    return isinstance(refusal, httpx2.TransportError)


class Outage:
    """How long a server has been away without a break."""

    def __init__(self) -> None:
        self._since: float | None = None

    def ended(self) -> None:
        """It has answered."""
        self._since = None

    def lasts(self) -> bool:
        """Note that it did not answer; returns whether it has been away for too long."""
        now = time.monotonic()
        if self._since is None:
            self._since = now
        return now - self._since >= AWAY
