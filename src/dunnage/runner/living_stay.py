"""One deployment from its start to its end."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from types import TracebackType

from dunnage import catalog
from dunnage.contracts.host import client_kind
from dunnage.contracts.platform import GivesAccount, Platform
from dunnage.errors import DunnageError
from dunnage.model.choices import Data
from dunnage.model.deployment import Deployment
from dunnage.model.layout import Reservation, Stage
from dunnage.model.plan import StayPlan
from dunnage.model.process import ProcessFacts, UnseenProcess
from dunnage.model.record import StayRecord
from dunnage.model.study import CLIENT_GROUP
from dunnage.runner.ending import ending
from dunnage.runner.endpoint import allowed, resolved
from dunnage.runner.formation import form, take
from dunnage.runner.inspection import control, inspect
from dunnage.runner.outweigh import outweighing
from dunnage.runner.restarts import RestartCount
from dunnage.runner.rules import rules_on
from dunnage.runner.slowdown import slowdown
from dunnage.runner.snapshots import KeptSnapshot, keeping, snapshot_of
from dunnage.runner.stay import Equipment, Stay
from dunnage.runner.substrates import awake_for, states
from dunnage.store.events import RESTARTED
from dunnage.store.write import ResultWriter

ACCOUNT = "account.txt"
"""File of a stay that failed: what its platform told before all of it went."""


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
    negative control is measured before. Where others live `together` with it, substrates are to be
    frozen once all are up, and there is no control: whose time would it be measured in? Raises
    StayError when it does not come up.
    """
    if plan.hosts is not None:
        deployment = deployment.model_copy(update={"hosts": plan.hosts})
    testbed, writer, spec = equipment.testbed, equipment.writer, deployment.database
    family = catalog.family(deployment)
    substrate = equipment.substrates[family] if family is not None else None
    platform = catalog.platform(deployment, testbed, substrate, equipment.trees, name)
    database = catalog.DATABASES[spec.kind]()
    with ExitStack() as stack:
        awake = (
            states(equipment, deployment)
            if together
            else stack.enter_context(awake_for(equipment, deployment))
        )
        restarts = RestartCount.begun(substrate)
        stack.push(ending(lambda: _note_restarts(restarts, writer, name)))
        stack.push(ending(platform.down))
        stack.push(_explaining(platform, writer, name))
        controlled: Mapping[str, float] = {}
        if not together:
            with outweighing(testbed):
                controlled = control(testbed.group(CLIENT_GROUP)[0])
        started = testbed.clock.now()
        reservation = platform.reserve(database.layout(spec))
        members = [place.member for place in reservation.places]
        stack.push(ending(lambda: _keep_logs(platform, members, writer, name)))
        took: dict[str, float] = {}
        restores = equipment.study.data is Data.RESTORE
        if restores and kept is not None:
            began = testbed.clock.now()
            files = snapshot_of(database, deployment, reservation).files
            keeping(platform, deployment).restore(kept.name, files)
            took["restore"] = testbed.clock.now() - began

        def stages(now: Reservation) -> tuple[Stage, ...]:
            every = database.stages(spec, now)
            adopt = snapshot_of(database, deployment, now).adopt if restores else ()
            return (*every, Stage("data", steps=adopt)) if adopt else every

        formed = form(platform, stages, reservation, testbed.clock, equipment.study.deadline)
        took |= formed.took
        reservation, services = formed.reservation, formed.services
        ready = testbed.clock.now()
        running = platform.running()
        target = database.target(spec, reservation)
        clients = tuple(platform.client(host) for host in testbed.group(CLIENT_GROUP))
        on_the_way = {each.host.name: each.host for each in running}
        on_the_way |= {host.name: host for host in testbed.group(CLIENT_GROUP)}
        names = resolved(target, clients)
        endpoint = allowed(target, names)
        found = [
            inspect(member, reservation.place(member.member), services[member.member].files)
            for member in running
        ]
        writer.stay(
            StayRecord(
                stay=name,
                block=plan.block,
                deployment=deployment.name,
                started=started,
                ready=ready,
                stages=took,
                facts=take(platform, database.facts(spec, reservation), testbed.clock),
                processes=tuple(each for each in found if isinstance(each, ProcessFacts)),
                unseen=tuple(each for each in found if isinstance(each, UnseenProcess)),
                endpoint=tuple(sorted(endpoint)),
                names=names,
                late=platform.late(),
                ports=reservation.numbers(),
                network=platform.network(),
                paths=platform.paths(clients[0]),
                substrates=awake,
                rules=rules_on(on_the_way.values(), equipment.substrates.values()),
                client=client_kind(clients[0]),
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
            endpoint=endpoint,
            substrate=substrate,
            clients=clients,
            slowdown=held,
            restarts=restarts,
            kept=kept,
        )


def _note_restarts(restarts: RestartCount, writer: ResultWriter, stay: str) -> None:
    """Note what was restarted in all of a stay, of which a record tells only as far as its run."""
    if found := restarts.so_far():
        told = [each.model_dump(mode="json") for each in found]
        writer.journal(RESTARTED, stay=stay, restarts=told)


def _explaining(platform: Platform, writer: ResultWriter, stay: str) -> Callable[..., None]:
    """An exit that keeps what a platform tells of a stay that fails, before all of it goes. The
    error's hint becomes that file, where the hint was to look at what goes."""

    def explain(
        _kind: type[BaseException] | None, error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        if not isinstance(error, DunnageError) or not isinstance(platform, GivesAccount):
            return
        if not error.hint or error.hint != platform.looking:
            return
        try:
            writer.stay_log(stay, ACCOUNT, platform.account())
        except DunnageError as second:
            error.add_note(f"what is told of it cannot be kept: {second}")
        else:
            error.hint = shlex.join(["less", str(writer.layout.stay_log(stay, ACCOUNT))])

    return explain


def _keep_logs(platform: Platform, members: Sequence[str], writer: ResultWriter, stay: str) -> None:
    """Keep what members wrote. A log that cannot be had says so in its own place: it does not make
    runs worth less that are there."""
    for member in members:
        try:
            told = platform.log(member, 2000)
        except DunnageError as error:
            told = f"(the log could not be read: {error})\n"
        writer.stay_log(stay, f"{member}.log", told)
