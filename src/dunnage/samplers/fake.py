"""The sampler of fake hosts; it leaves what the engine's sampler leaves."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import ClassVar

from dunnage.model.load import Command, Samples, WatchOrder
from dunnage.model.offer import PartOffer
from dunnage.samplers.readings import SAMPLES, VERSION, readings


class FakeSampler:
    """Watches fake hosts by the built-in program `fake-sample`."""

    offer: ClassVar[PartOffer] = PartOffer(fake=True)

    def command(
        self,
        order: WatchOrder,
        engine: str,  # noqa: ARG002 - the program is a fake host's own
        directory: str,
    ) -> Command:
        """What to start on the host."""
        units = dict(order.units)
        plan = {"version": VERSION, "host": order.host, "rate": order.rate, "units": units}
        return Command(
            argv=("fake-sample", "--plan", f"{directory}/watch.json", "--out", directory),
            directory=directory,
            files={"watch.json": json.dumps(plan)},
            artefacts=(SAMPLES,),
        )

    def parse(self, artefacts: Mapping[str, bytes]) -> Samples:
        """Read what it left; raises RunError when nothing usable is there."""
        return readings(artefacts)
