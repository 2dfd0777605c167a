"""An API server that is away for a while, as it is when it is restarted, and patience with it."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

import httpx2

from dunnage.deadline import Deadline
from dunnage.kubernetes_api import Refused

AWAY = 60.0
"""Seconds for which an API server is waited for, whatever it is asked meanwhile."""
_INTERVAL = 0.05
_TOO_MANY, _FAILED = 429, 500
"""HTTP status of a server that cannot answer yet, and the first of one that fails."""

T = TypeVar("T")


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
    """How long a server has been away without a break, whoever asked it."""

    def __init__(self) -> None:
        self._since: float | None = None

    def asked(self, ask: Callable[[], T], deadline: Deadline | None = None) -> T:
        """What is answered to a question that may be asked twice.

        Raises `Refused` when it is refused, or when the server is away beyond the deadline or for
        too long; StayError where all is given up.
        """
        deadline = deadline or Deadline.after(AWAY)
        while True:
            try:
                answer = ask()
            except Refused as refusal:
                if not is_away(refusal) or self._lasts() or deadline.passed:
                    raise
                deadline.pause(_INTERVAL)
            else:
                self._since = None
                return answer

    def _lasts(self) -> bool:
        """Note that it did not answer; returns whether it has been away for too long."""
        now = time.monotonic()
        if self._since is None:
            self._since = now
        return now - self._since >= AWAY
