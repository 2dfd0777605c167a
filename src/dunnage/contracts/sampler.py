"""What reads counters: what the runner asks of a sampler."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Protocol

from dunnage.model.load import Command, Samples, WatchOrder
from dunnage.model.offer import PartOffer


class Sampler(Protocol):
    """Reads counters: a command to run on each host, and how to read its artefacts. Pure.

    The process samples until TERM, and then ends.
    """

    offer: ClassVar[PartOffer]

    def command(self, order: WatchOrder, engine: str, directory: str) -> Command: ...

    def parse(self, artefacts: Mapping[str, bytes]) -> Samples:
        """Read its artefacts; raises RunError if they are not usable."""
