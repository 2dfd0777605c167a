"""Stays with one member, recorded as a study records them, so that parity can compare them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TypeVar

from dunnage.contracts.host import Clock
from dunnage.contracts.platform import Platform
from dunnage.databases.redis.database import Redis
from dunnage.model.deployment import Deployment
from dunnage.model.layout import Reservation, Service, Stage
from dunnage.model.process import ProcessFacts, UnseenProcess
from dunnage.model.record import StayRecord
from dunnage.runner.formation import form, take
from dunnage.runner.inspection import inspect

P = TypeVar("P", bound=Platform)


@contextmanager
def recorded(
    platform: P,
    deployment: Deployment,
    clock: Clock,
    change: Callable[[Service], Service] = lambda service: service,
) -> Iterator[tuple[P, Callable[[], StayRecord]]]:
    """A Redis, formed, and how to have its stay recorded as it is now."""
    database, spec = Redis(), deployment.database
    try:
        reservation = platform.reserve(database.layout(spec))

        def stages(now: Reservation) -> tuple[Stage, ...]:
            return tuple(
                replace(stage, services=tuple(map(change, stage.services)))
                for stage in database.stages(spec, now)
            )

        formed = form(platform, stages, reservation, clock, deadline=30.0)
        (service,) = formed.services.values()
        (place,) = formed.reservation.places

        def record() -> StayRecord:
            (member,) = platform.running()
            return as_stay(
                deployment.name,
                inspect(member, place, service.files),
                take(platform, database.facts(spec, formed.reservation), clock),
                (str(place.ports["redis"].contact),),
            )

        yield platform, record
    finally:
        platform.down()


def as_stay(
    name: str,
    process: ProcessFacts | UnseenProcess,
    facts: object = None,
    endpoint: tuple[str, ...] = (),
) -> StayRecord:
    """What is recorded of a stay with this process."""
    assert isinstance(process, ProcessFacts)
    return StayRecord.model_validate(
        {
            "stay": f"b1-{name}",
            "block": 1,
            "deployment": name,
            "started": 0.0,
            "ready": 1.0,
            "stages": {},
            "facts": facts or {},
            "processes": (process,),
            "endpoint": endpoint,
            "network": {},
        }
    )
