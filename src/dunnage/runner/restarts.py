"""What is restarted of a stay's substrate while the stay lasts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from dunnage.contracts.substrate import Substrate, TellsRestarts
from dunnage.errors import HostLostError, RunError
from dunnage.model.record import Restart

Told = Mapping[str, tuple[Restart, ...]]
"""Host → its restarts so far, in order."""


@dataclass(frozen=True)
class RestartCount:
    """Counts from when it was begun. Restarts have no other beginning: clocks may be set."""

    substrate: Substrate | None
    before: Mapping[str, int] | None
    """Host → number of its restarts when it was begun; None if that is not known."""

    @classmethod
    def begun(cls, substrate: Substrate | None) -> RestartCount:
        """One that begins now."""
        told = _told(substrate)
        if told is None:
            return cls(substrate, None)
        return cls(substrate, {host: len(found) for host, found in told.items()})

    def so_far(self) -> tuple[Restart, ...] | None:
        """Restarts since then, the earliest first; None if nothing, or not every host, tells of
        them: no run and no stay fails by that."""
        told = None if self.before is None else _told(self.substrate)
        if told is None or self.before is None:
            return None
        since = [each for host, found in told.items() for each in found[self.before[host] :]]
        return tuple(sorted(since, key=lambda each: each.time))


def _told(substrate: Substrate | None) -> Told | None:
    """What a substrate tells; nothing was restarted where there is none."""
    if substrate is None:
        return {}
    if not isinstance(substrate, TellsRestarts):
        return None
    try:
        return substrate.restarts()
    except (HostLostError, RunError):
        return None
