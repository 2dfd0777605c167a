"""The engine's sampler: `dunnage-engine sample` on every host."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, ClassVar

from pydantic import ValidationError

from dunnage.errors import RunError
from dunnage.model.load import Command, Sample, Samples, WatchOrder
from dunnage.model.offer import PartOffer
from dunnage.model.soft_interrupts import SoftInterrupts

PLAN = "watch.json"
SAMPLES = "samples.jsonl"
"""Lines of JSON (`engine-samples` schema), a reading each."""
VERSION = 5
"""Of the samples. 1: first. 2: network counters are the uplink's, and inner devices are apart.
3: disk counters under control groups version 1 are those of processes. 4: soft interrupts by
networks. 5: how these are counted."""


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
            "networks": {name: list(own) for name, own in order.networks.items()},
        }
        return Command(
            argv=(engine, "sample", "--plan", f"{directory}/{PLAN}", "--out", directory),
            directory=directory,
            files={PLAN: json.dumps(plan, sort_keys=True) + "\n"},
            artefacts=(SAMPLES,),
        )

    def parse(self, artefacts: Mapping[str, bytes]) -> Samples:
        """Read what a sampler left; a last line that was cut off is left out.

        Raises RunError when there is no file, no header or no sample.
        """
        if SAMPLES not in artefacts:
            raise RunError(f"the sampler left no `{SAMPLES}`")
        lines = _lines(artefacts[SAMPLES])
        header = next((line for line in lines if line["line"] == "header"), None)
        samples = [line for line in lines if line["line"] == "sample"]
        if header is None or not samples:
            raise RunError(f"`{SAMPLES}` holds no sample")
        if not 1 <= header["version"] <= VERSION:
            raise RunError(f"`{SAMPLES}` has version {header['version']}, above {VERSION}")
        return Samples(
            host=header["host"],
            interval=header["interval"],
            samples=tuple(_sample(line, header.get("soft_method", "")) for line in samples),
            own_cpu=tuple(line["own_cpu"] for line in samples),
            absent=header["absent"],
        )


def _sample(line: Mapping[str, Any], method: str) -> Sample:
    soft, counted = line.get("soft_interrupts"), None
    if soft is not None:
        try:
            counted = SoftInterrupts.model_validate({**soft, "method": method})
        except ValidationError as error:
            raise RunError(f"`{SAMPLES}` cannot be read: {error}") from None
    return Sample(line["time"], line["units"], line["machine"], counted)


def _lines(content: bytes) -> list[dict[str, Any]]:
    """Every whole line; what a killed sampler was writing has no end of line."""
    whole, _, _ = content.rpartition(b"\n")
    try:
        return [json.loads(line) for line in whole.splitlines()]
    except ValueError as error:
        raise RunError(f"`{SAMPLES}` cannot be read: {error}") from None
