"""Drive a database: start every part of a load at once, wait, collect, add."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace

from dunnage.contracts.host import Host
from dunnage.errors import RunError
from dunnage.model.choices import Phase
from dunnage.model.load import Command, LoadOrder
from dunnage.model.plan import RunPlan
from dunnage.model.record import Measurement
from dunnage.runner.ending import ended
from dunnage.runner.stay import Stay
from dunnage.runner.waiting import Part, wait, wait_while_it_goes_on

GRACE = 30.0
"""Seconds that a generator may take beyond its load, to connect and to write its results. So long
one may also go without an answer, beyond the time in which an operation must have one."""


def order_for(stay: Stay, run: RunPlan) -> LoadOrder:
    """A load of a run's workload at its level, as the study wants it; nothing ends it yet."""
    load = stay.equipment.study.load
    return LoadOrder(
        workload=run.workload,
        phase=Phase.RUN,
        level=run.level,
        target=stay.target,
        connections=load.connections,
        arrivals=load.arrivals,
        timeout=load.timeout,
        seed=run.seed,
    )


def drive(
    stay: Stay, order: LoadOrder, directory: str
) -> tuple[list[dict[str, bytes]], Measurement]:
    """Run all parts of a load at once, each on its client; return what each left, and the sum.

    Raises RunError when a part fails, hangs or leaves nothing, StayError when a member died
    meanwhile.
    """
    patience = order.timeout + GRACE
    with ExitStack() as stack:
        parts = start_all(stack, stay, order, directory)
        for part in parts:
            if order.duration is None:
                wait_while_it_goes_on(stay, part, patience)
            else:
                wait(stay, part, order.warmup + order.duration + patience)
        left = [collect(host, command) for host, command, _ in parts]
    measurement = stay.equipment.generator.parse(left)
    spread = _spread(stay, measurement.starts)
    return left, measurement.model_copy(update={"spread": spread})


def start_all(stack: ExitStack, stay: Stay, order: LoadOrder, directory: str) -> list[Part]:
    """Start all parts of a load, each on its client; they end with the stack at the latest.

    Several are connected first, and then begin at one instant.
    """
    generator = stay.equipment.generator
    if len(stay.clients) > 1:
        ahead = [client.clock_offset() for client in stay.clients]
        instant = stay.equipment.testbed.clock.now() + generator.connecting
        order = replace(order, starts=tuple(instant + seconds for seconds in ahead))
    directories = [f"{client.scratch}/{directory}" for client in stay.clients]
    commands = generator.commands(order, stay.clients[0].engine, directories)
    parts = list(zip(stay.clients, commands, strict=True))
    for host, command in parts:
        put(host, command)
    return [start(stack, host, command, "generator") for host, command in parts]


def _spread(stay: Stay, starts: Sequence[float]) -> float | None:
    """Seconds from the first to the last of several starts, each by the clock of its client."""
    if not 1 < len(starts) == len(stay.clients):
        return None
    ours = [
        start - client.clock_offset() for start, client in zip(starts, stay.clients, strict=True)
    ]
    return max(ours) - min(ours)


def put(host: Host, command: Command) -> None:
    """Put a command's files on a host."""
    for name, content in command.files.items():
        host.put(f"{command.directory}/{name}", content.encode())


def start(stack: ExitStack, host: Host, command: Command, unit: str) -> Part:
    """Start a command whose files are there; it ends with the stack at the latest.

    Its output goes to `<unit>.log` beside them.
    """
    process = host.start(command.argv, unit=unit, log=f"{command.directory}/{unit}.log")
    stack.push(ended(host, process, command.directory))
    return host, command, process


def keep_artefacts(
    stay: Stay, run: RunPlan, attempt: int, sources: Iterable[tuple[str, Mapping[str, bytes]]]
) -> tuple[str, ...]:
    """Keep the raw files of a run, by what left them; return their names."""
    names = []
    for source, files in sources:
        for name, content in files.items():
            names.append(f"attempt-{attempt}.{source}.{name}")
            stay.equipment.writer.artefact(run.id, names[-1], content)
    return tuple(names)


def collect(host: Host, command: Command) -> dict[str, bytes]:
    """Fetch everything that a command was to leave; raises RunError when something is missing."""
    files = {}
    for name in command.artefacts:
        try:
            files[name] = host.get(f"{command.directory}/{name}")
        except FileNotFoundError as error:
            raise RunError(f"wrote no `{name}`", where=host.name) from error
    return files
