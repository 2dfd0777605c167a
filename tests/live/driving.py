"""Drives a database for a moment, as a run does."""

from __future__ import annotations

from collections.abc import Sequence

from dunnage.contracts.host import Host
from dunnage.generators.engine import EngineGenerator
from dunnage.model.choices import Arrivals, Phase
from dunnage.model.deployment import Workload
from dunnage.model.layout import Target
from dunnage.model.level import Level
from dunnage.model.load import LoadOrder
from dunnage.model.record import Measurement


def driven(client: Host, target: Target) -> frozenset[str]:
    """Drive a database for a moment; returns the addresses that the engine connected to."""
    remotes: set[str] = set()
    for phase in (Phase.LOAD, Phase.RUN):
        order = LoadOrder(
            workload=Workload(name="A", core="A", phase=phase, records=300),
            phase=phase,
            level=Level(threads=4),
            target=target,
            connections=4,
            arrivals=Arrivals.CONSTANT,
            warmup=0.0,
            duration=None,
            operations=None if phase is Phase.LOAD else 1000,
            timeout=5.0,
            seed=7,
        )
        remotes |= set(carried_out(client, order).remotes)
    return frozenset(remotes)


def carried_out(client: Host, order: LoadOrder, through: Sequence[str] = ()) -> Measurement:
    """Make one load to its end, and read what came of it.

    `through` begins a command that carries out another, such as `taskset`.
    """
    generator, directory = EngineGenerator(), f"{client.scratch}/load-{order.phase.value}"
    (command,) = generator.commands(order, client.engine, [directory])
    for name, text in command.files.items():
        client.put(f"{command.directory}/{name}", text.encode())
    argv = (*through, *command.argv)
    process = client.start(argv, unit="generator", log=f"{directory}/log")
    assert process.wait(60.0) == 0, client.get(f"{directory}/log")
    left = {name: client.get(f"{command.directory}/{name}") for name in command.artefacts}
    client.remove(directory)
    return generator.parse([left])
