"""Until when members are waited for."""

from __future__ import annotations

import time
from dataclasses import dataclass
from threading import Event

from dunnage.errors import StayError


@dataclass(frozen=True)
class Deadline:
    """The moment at which waiting ends, for all that is waited for until then.

    It ends earlier where all is `given_up`, as something else has failed.
    """

    seconds: float
    """From its making to that moment."""
    ends: float
    """That moment, by the monotonic clock."""
    given_up: Event

    @classmethod
    def after(cls, seconds: float, given_up: Event | None = None) -> Deadline:
        """One in `seconds` from now."""
        return cls(seconds, time.monotonic() + seconds, given_up or Event())

    @property
    def passed(self) -> bool:
        """Whether that moment is over."""
        return time.monotonic() >= self.ends

    def pause(self, seconds: float) -> None:
        """Let some time pass before another try. Raises StayError where all is given up."""
        if self.given_up.wait(seconds):
            raise StayError("it is given up, as something else has failed")
