"""What makes load: what the runner asks of a generator."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar, Protocol

from dunnage.model.load import Command, LoadOrder
from dunnage.model.offer import PartOffer
from dunnage.model.record import Measurement


class Generator(Protocol):
    """Makes load: a command to run on the client, and how to read its artefacts. Pure."""

    offer: ClassVar[PartOffer]
    connecting: ClassVar[float]
    """Seconds after which a part that was started is connected, and can begin. Where several make
    one load, they are told to begin so much later."""

    def commands(
        self, order: LoadOrder, engine: str, directories: Sequence[str]
    ) -> tuple[Command, ...]:
        """One command for each part of the load; together they make the whole load.

        Each part has its own directory, on the client that it runs on.
        """

    def progress(self, log: bytes) -> int:
        """Operations that a part has had answered so far, by what it wrote; 0 before it tells.

        It tells at least every few seconds, even while nothing is answered.
        """

    def parse(self, artefacts: Sequence[Mapping[str, bytes]]) -> Measurement:
        """Add the parts' results. Raises RunError that says what failed, if one did."""
