"""The sampler of fake hosts; its file is that of the engine's sampler (`engine-samples`)."""

from __future__ import annotations

import json
from collections.abc import Mapping

from dunnage.errors import RunError
from dunnage.model.load import Command, Sample, Samples, WatchOrder

SAMPLES = "samples.jsonl"


class FakeSampler:
    """Watches fake hosts by the built-in program `fake-sample`."""

    def command(
        self,
        order: WatchOrder,
        engine: str,  # noqa: ARG002 - the program is a fake host's own
        directory: str,
    ) -> Command:
        """What to start on the host."""
        plan = {"version": 1, "host": order.host, "rate": order.rate, "units": dict(order.units)}
        return Command(
            argv=("fake-sample", "--plan", f"{directory}/watch.json", "--out", directory),
            directory=directory,
            files={"watch.json": json.dumps(plan)},
            artefacts=(SAMPLES,),
        )

    def parse(self, artefacts: Mapping[str, bytes]) -> Samples:
        """Read what it left; raises RunError when nothing usable is there."""
        if SAMPLES not in artefacts:
            raise RunError(f"the sampler left no `{SAMPLES}`")
        try:
            lines = [json.loads(line) for line in artefacts[SAMPLES].splitlines()]
        except ValueError as error:
            raise RunError(f"`{SAMPLES}` cannot be read: {error}") from None
        headers = [line for line in lines if line["line"] == "header"]
        readings = [line for line in lines if line["line"] == "sample"]
        if not headers or not readings:
            raise RunError(f"`{SAMPLES}` holds no sample")
        (header,) = headers
        return Samples(
            host=header["host"],
            interval=header["interval"],
            samples=tuple(
                Sample(line["time"], line["units"], line["machine"]) for line in readings
            ),
            own_cpu=tuple(line["own_cpu"] for line in readings),
            absent=header["absent"],
        )
