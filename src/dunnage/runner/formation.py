"""One walk through stages serves every database: start, wait until ready, take steps."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from dunnage.contracts.host import Clock
from dunnage.contracts.platform import Platform
from dunnage.errors import TO_LOOK, RunError, StayError
from dunnage.model.layout import Reservation, Service, Stage, Step
from dunnage.model.value import Scalar


@dataclass(frozen=True)
class Formed:
    """A database that is formed."""

    reservation: Reservation
    """With every address that was late."""
    services: Mapping[str, Service]
    """Member → what it was started from."""
    took: Mapping[str, float]
    """Seconds of each stage."""


def form(
    platform: Platform,
    stages: Callable[[Reservation], Sequence[Stage]],
    reservation: Reservation,
    clock: Clock,
    deadline: float,
) -> Formed:
    """Bring up all stages in order; what is late is filled in as soon as members have started.

    Raises StayError when a service does not become ready or a step's deadline is over.
    """
    took: dict[str, float] = {}
    services: dict[str, Service] = {}
    for number in range(len(stages(reservation))):
        stage = stages(reservation)[number]
        began = clock.now()
        if stage.services:
            platform.up(stage.services, deadline)
            services |= {service.member: service for service in stage.services}
            reservation = reservation.filled(platform.late())
        take(platform, stages(reservation)[number].steps, clock)
        took[stage.name] = clock.now() - began
    return Formed(reservation, services, took)


def take(platform: Platform, steps: Sequence[Step], clock: Clock) -> dict[str, Scalar]:
    """Take steps in order, each until it is done; return the facts they gave.

    Raises StayError that names the step, and shows its last output or that it hangs.
    """
    facts: dict[str, Scalar] = {}
    for step in steps:
        facts.update(step.parse(_until_done(platform, step, clock)))
    return facts


def _until_done(platform: Platform, step: Step, clock: Clock) -> str:
    ends = clock.now() + step.deadline
    while True:
        try:
            completed = platform.run(
                step.member, step.argv, stdin=step.stdin, timeout=max(step.deadline, 1.0)
            )
        except RunError as error:
            platform.running()
            raise StayError(
                f"step `{step.name}` failed: {error.what}", where=step.member, hint=TO_LOOK
            ) from error
        if completed.code == 0 and step.done(completed.stdout):
            return completed.stdout
        if clock.now() >= ends:
            platform.running()  # a dead member is the better explanation, with its log
            output = (completed.stdout + completed.stderr).strip()[-400:]
            raise StayError(
                f"step `{step.name}` was not finished within {step.deadline:g} s; "
                f"exit code {completed.code}, last output: {output or 'none'}",
                where=step.member,
                hint=TO_LOOK,
            )
        clock.sleep(0.02)
