"""What carrying out a plan works with: the equipment, what is done, and how stays come to live."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field

from dunnage import catalog
from dunnage.contracts import Platform
from dunnage.errors import DunnageError, HostLostError, RunError, StayError
from dunnage.model.choices import Data
from dunnage.model.deployment import Deployment
from dunnage.model.layout import Stage
from dunnage.model.loss import KnownLoss
from dunnage.model.plan import Plan, StayPlan
from dunnage.model.record import StayRecord
from dunnage.model.study import CLIENT_GROUP
from dunnage.runner.ending import ending
from dunnage.runner.formation import form, take
from dunnage.runner.inspection import control, inspect
from dunnage.runner.interrupt import Stop
from dunnage.runner.patience import Patience
from dunnage.runner.progress import Watcher
from dunnage.runner.slowdown import slowdown
from dunnage.runner.snapshots import KeptSnapshot, keeping, snapshot_of
from dunnage.runner.stay import Equipment, Stay
from dunnage.store.write import ResultWriter

ATTEMPTS = 2
"""Stays that are tried for one planned stay, and runs for one planned run, before going on."""


@dataclass(frozen=True)
class Work:
    """What every stay is carried out with; `done` grows with every finished run."""

    equipment: Equipment
    plan: Plan
    done: set[str]
    failures: list[str]
    patience: Patience
    watcher: Watcher
    stop: Stop
    kept: dict[str, KeptSnapshot] = field(default_factory=dict)
    """Snapshots that the hosts keep, by name."""
    losses: Mapping[str, KnownLoss] = field(default_factory=dict)
    """Deployment that shall lose throughput → the slowdown that does it."""

    def deployment(self, planned: StayPlan) -> Deployment:
        """What a stay is of; that of the calibration may be no part of a filtered plan."""
        calibration = self.plan.calibration
        if calibration is not None and planned == calibration.stay:
            return calibration.deployment
        deployment = self.plan.deployment(planned.deployment)
        loss = self.losses.get(deployment.original)
        return deployment.model_copy(update={"slowdown": loss.share}) if loss else deployment


@contextmanager
def living_stay(
    equipment: Equipment,
    plan: StayPlan,
    name: str,
    deployment: Deployment,
    kept: KeptSnapshot | None = None,
    *,
    together: bool = False,
) -> Iterator[Stay]:
    """Bring a deployment up, keep it for the `with`, keep its logs, and take it down.

    It lives on the plan's group of hosts where that names one, and its members start with the
    snapshot `kept` if there is one. Other platforms' substrates are frozen meanwhile, and its
    negative control is measured before. Where others live `together` with it, neither makes sense:
    whose time a control would be measured in? Raises StayError when it does not come up.
    """
    if plan.hosts is not None:
        deployment = deployment.model_copy(update={"hosts": plan.hosts})
    testbed, writer, spec = equipment.testbed, equipment.writer, deployment.database
    family = catalog.family(deployment)
    substrate = equipment.substrates[family] if family is not None else None
    platform = catalog.platform(deployment, testbed, substrate, equipment.trees, name)
    database = catalog.DATABASES[spec.kind]()
    with ExitStack() as stack:
        for other in equipment.substrates.values():
            if other is not substrate and not together:
                other.freeze()
                stack.callback(other.wake)
        stack.push(ending(platform.down))
        controlled = {} if together else control(testbed.group(CLIENT_GROUP)[0])
        started = testbed.clock.now()
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


def until_done(
    work: Work,
    due: Callable[[], bool],
    carry_out: Callable[[], None],
    first: StayPlan,
    what: str,
) -> DunnageError | None:
    """Carry out what is due, in new stays once more if it fails; return why it did in the end.

    `first` of the stays is the one that the journal names, and `what` is what the user is told of.
    Raises InterruptedRunError when the user stopped it.
    """
    for attempt in range(1, ATTEMPTS + 1):
        if not due():
            return None
        work.stop.check()
        try:
            carry_out()
        except (StayError, HostLostError, RunError) as error:
            why = said(error)
            work.equipment.writer.journal("stay failed", stay=first.id, attempt=attempt, why=why)
            work.watcher.say(f"{what} failed: {why}")
            restore_lost(work)
            if attempt == ATTEMPTS:
                return error
    return None


def said(error: BaseException) -> str:
    """An error with all that was noted while its scope was left."""
    return "; ".join((str(error), *getattr(error, "__notes__", ())))


def restore_lost(work: Work) -> None:
    """Bring lost hosts back, and what must live on them; raises when one stays lost.

    A host of members comes back without the snapshots that it kept: they are made anew.
    """
    equipment = work.equipment
    clients = [host.name for host in equipment.testbed.group(CLIENT_GROUP)]
    for name in equipment.testbed.lost():
        equipment.testbed.restore(name)
        for substrate in equipment.substrates.values():
            substrate.mend(name)
        equipment.writer.journal("host restored", host=name)
        if name not in clients:
            work.kept.clear()
