"""How long a study may go on measuring again what was disturbed from outside."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping

from dunnage.model.value import Scalar
from dunnage.store.events import AGAIN


class Patience:
    """Time that may still be spent on measuring again."""

    def __init__(self, seconds: float) -> None:
        self._left = seconds

    @classmethod
    def left(cls, seconds: float, events: Iterable[Mapping[str, Scalar]]) -> Patience:
        """What is left of so much, after what a journal tells of the earlier parts of a study."""
        spent = [event.get("seconds") for event in events if event.get("event") == AGAIN]
        return cls(seconds - math.fsum(each for each in spent if isinstance(each, int | float)))

    def spend(self, seconds: float) -> bool:
        """Whether there is time for another attempt of this length; it is taken then."""
        if seconds > self._left:
            return False
        self._left -= seconds
        return True
