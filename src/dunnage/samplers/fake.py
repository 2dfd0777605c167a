"""The sampler of fake hosts; it leaves what the engine's sampler leaves."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

from dunnage.model.load import Command, WatchOrder
from dunnage.model.offer import PartOffer
from dunnage.samplers.engine import EngineSampler


class FakeSampler(EngineSampler):
    """Watches fake hosts by the built-in program `fake-sample`."""

    offer: ClassVar[PartOffer] = PartOffer(fake=True)

    def command(self, order: WatchOrder, engine: str, directory: str) -> Command:
        command = super().command(order, engine, directory)
        return replace(command, argv=("fake-sample", *command.argv[2:]))
