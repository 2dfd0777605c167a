"""The engine's sampler: `dunnage-engine sample` on every host."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import ClassVar

from dunnage.model.load import Command, Samples, WatchOrder
from dunnage.model.offer import PartOffer
from dunnage.samplers.readings import SAMPLES, VERSION, readings

PLAN = "watch.json"


class EngineSampler:
    """Reads a host's control groups and counters at even ticks."""

    offer: ClassVar[PartOffer] = PartOffer()

    def command(self, order: WatchOrder, engine: str, directory: str) -> Command:
        """What to start on the host; it samples until it is sent TERM."""
        plan = {
            "version": VERSION,
            "host": order.host,
            "rate": order.rate,
            "address": order.address,
            "units": dict(order.units),
        }
        return Command(
            argv=(engine, "sample", "--plan", f"{directory}/{PLAN}", "--out", directory),
            directory=directory,
            files={PLAN: json.dumps(plan, sort_keys=True) + "\n"},
            artefacts=(SAMPLES,),
        )

    def parse(self, artefacts: Mapping[str, bytes]) -> Samples:
        """Read what it left; raises RunError when nothing usable is there."""
        return readings(artefacts)
