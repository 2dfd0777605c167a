"""One stay: a deployment, from reserved addresses to nothing left."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field

from dunnage.contracts import (
    Database,
    Generator,
    Host,
    Platform,
    Sampler,
    SoftwareStore,
    Substrate,
    Testbed,
)
from dunnage.model.calibration import Calibration
from dunnage.model.choices import Data
from dunnage.model.deployment import Deployment, Workload
from dunnage.model.layout import Reservation, Stage, Target
from dunnage.model.plan import StayPlan
from dunnage.model.record import StayRecord
from dunnage.model.study import CLIENT_GROUP, Study
from dunnage.runner.control import control
from dunnage.runner.ending import ending
from dunnage.runner.formation import form, take
from dunnage.runner.inspection import inspect
from dunnage.runner.slowdown import Slowdown, slowdown
from dunnage.runner.snapshots import KeptSnapshot, keeping, snapshot_of
from dunnage.store.write import ResultWriter


@dataclass(frozen=True)
class Equipment:
    """What all stays of a study share; it outlives each of them."""

    study: Study
    testbed: Testbed
    substrates: Mapping[str, Substrate]
    """By family, such as `docker`."""
    trees: SoftwareStore
    generator: Generator
    sampler: Sampler
    writer: ResultWriter
    calibration: Calibration | None = None
    """What the baseline is capable of, where rates are shares of it."""


@dataclass
class Stay:
    """A living deployment. `filled` says what the database holds, so that it is loaded when due."""

    name: str
    plan: StayPlan
    deployment: Deployment
    equipment: Equipment
    database: Database
    platform: Platform
    reservation: Reservation
    target: Target
    substrate: Substrate | None
    clients: tuple[Host, ...]
    slowdown: Slowdown
    filled: Workload | None = field(default=None)
    spoiled: bool = field(default=False)
    """A load broke off: nobody knows what the database holds."""
    conditioned: bool = field(default=False)
    """It was driven for as long as the study asks for before a first run."""
    kept: KeptSnapshot | None = field(default=None)
    """The snapshot that its members started with; None where records are put in."""


@contextmanager
def living(
    plan: StayPlan,
    name: str,
    deployment: Deployment,
    equipment: Equipment,
    database: Database,
    platform: Platform,
    substrate: Substrate | None,
    kept: KeptSnapshot | None = None,
    *,
    together: bool = False,
) -> Iterator[Stay]:
    """Bring a deployment up, keep it for the `with`, keep its logs, and take it down.

    Its members start with the snapshot `kept`, if there is one. Other platforms' substrates are
    frozen meanwhile, and its negative control is measured before. Where others live `together` with
    it, neither makes sense: whose time a control would be measured in? Raises StayError when it
    does not come up.
    """
    testbed, writer = equipment.testbed, equipment.writer
    with ExitStack() as stack:
        for other in equipment.substrates.values():
            if other is not substrate and not together:
                other.freeze()
                stack.callback(other.wake)
        stack.push(ending(platform.down))
        controlled = {} if together else control(testbed.group(CLIENT_GROUP)[0])
        started = testbed.clock.now()
        spec = deployment.database
        reservation = platform.reserve(database.layout(spec))
        members = [place.member for place in reservation.places]
        stack.push(ending(lambda: _keep_logs(platform, members, writer, name)))
        stages = database.stages(spec, reservation)
        took: dict[str, float] = {}
        if equipment.study.data is Data.RESTORE:
            snapshot = snapshot_of(database, deployment, reservation)
            if kept is not None:
                began = testbed.clock.now()
                keeping(platform, deployment).restore(kept.name, snapshot.files)
                took["restore"] = testbed.clock.now() - began
            if snapshot.adopt:
                stages = (*stages, Stage("data", steps=snapshot.adopt))
        took |= form(platform, stages, testbed.clock, equipment.study.deadline)
        ready = testbed.clock.now()
        running = platform.running()
        target = database.target(spec, reservation)
        services = {service.member: service for stage in stages for service in stage.services}
        writer.stay(
            StayRecord(
                stay=name,
                block=plan.block,
                deployment=deployment.name,
                started=started,
                ready=ready,
                stages=took,
                facts=take(platform, database.facts(spec, reservation), testbed.clock),
                processes=tuple(
                    inspect(member, reservation.place(member.member), services[member.member].files)
                    for member in running
                ),
                endpoint=tuple(sorted(str(address) for address in target.endpoint)),
                network=platform.network(),
                restored_from=kept.stay if kept else None,
                control=controlled,
            )
        )
        held = stack.enter_context(slowdown(deployment.slowdown, running, testbed.clock))
        yield Stay(
            name=name,
            plan=plan,
            deployment=deployment,
            equipment=equipment,
            database=database,
            platform=platform,
            reservation=reservation,
            target=target,
            substrate=substrate,
            clients=tuple(platform.client(host) for host in testbed.group(CLIENT_GROUP)),
            slowdown=held,
            kept=kept,
        )


def _keep_logs(platform: Platform, members: Sequence[str], writer: ResultWriter, stay: str) -> None:
    for member in members:
        writer.stay_log(stay, f"{member}.log", platform.log(member, 2000))
