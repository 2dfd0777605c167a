"""The engine's sampler: `dunnage-engine sample` on every host."""

from __future__ import annotations

import json
from typing import ClassVar

from dunnage.model.load import Command, WatchOrder
from dunnage.model.offer import PartOffer
from dunnage.samplers.readings import SAMPLES, VERSION, readings

PLAN = "watch.json"


class EngineSampler:
    """Reads a host's control groups and counters at even ticks."""

    offer: ClassVar[PartOffer] = PartOffer()

    def command(self, order: WatchOrder, engine: str, directory: str) -> Command:
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

    parse = staticmethod(readings)
