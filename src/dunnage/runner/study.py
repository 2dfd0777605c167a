"""Carry out a plan: testbed, then block by block, stay by stay, run by run, saved as each ends."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass

from dunnage import __version__, catalog
from dunnage.contracts import Substrate, Testbed
from dunnage.errors import HostLostError, RunError, StayError
from dunnage.model.plan import Plan, RunPlan, StayPlan
from dunnage.model.study import CLIENT_GROUP, ClientPlace, Deployment, Study
from dunnage.runner import spare
from dunnage.runner.interrupt import Stop
from dunnage.runner.progress import Watcher
from dunnage.runner.run import Patience
from dunnage.runner.run import carry_out as carry_out_run
from dunnage.runner.stay import Equipment, living
from dunnage.store.write import ResultWriter

ATTEMPTS = 2
"""Stays that are tried for one planned stay, and runs for one planned run, before going on."""


@dataclass(frozen=True)
class Outcome:
    """How carrying out a plan ended."""

    finished: int
    missing: tuple[str, ...]
    """Runs that have no record, after all attempts."""
    failures: tuple[str, ...]
    """Why, a sentence each."""


def carry_out(
    study: Study,
    plan: Plan,
    writer: ResultWriter,
    finished: frozenset[str],
    watcher: Watcher,
    stop: Stop,
    *,
    keep: bool = False,
) -> Outcome:
    """Carry out every run of `plan` that is not in `finished`.

    Raises InterruptedRunError when the user stopped it; a failed stay or run does not end the
    study: it is tried again in a new stay of the same block, then left out and told.
    """
    failures: list[str] = []
    done = set(finished)
    patience = Patience(study.patience)
    with ExitStack() as stack:
        with stop.at_once():
            stack.enter_context(catalog.measuring(study, watcher.say))
        testbed = stack.enter_context(catalog.open_testbed(study.testbed, study.name, keep=keep))
        equipment = Equipment(
            study=study,
            testbed=testbed,
            substrates=_open_substrates(stack, study, plan, testbed, keep=keep),
            trees=catalog.software(study.testbed.kind),
            generator=catalog.GENERATORS[study.generator](),
            sampler=catalog.SAMPLERS[study.sampler.kind](),
            writer=writer,
        )
        writer.environment(_environment(equipment))
        writer.journal("testbed open", dunnage=__version__)
        _carry_out_blocks(equipment, plan, done, failures, patience, watcher, stop)
        while (longer := spare.add(study, writer)) is not None:
            added = longer.model_copy(update={"blocks": longer.blocks[len(plan.blocks) :]})
            runs = len(tuple(added.runs()))
            watcher.more(runs, "spare blocks take the place of spoilt ones")
            _carry_out_blocks(equipment, added, done, failures, patience, watcher, stop)
            plan = longer
    missing = tuple(run.id for run in plan.runs() if run.id not in done)
    writer.journal("study finished", finished=len(done), missing=len(missing))
    return Outcome(len(done), missing, tuple(failures))


def _carry_out_blocks(
    equipment: Equipment,
    plan: Plan,
    done: set[str],
    failures: list[str],
    patience: Patience,
    watcher: Watcher,
    stop: Stop,
) -> None:
    """Carry out every stay that has runs to do, each up to `ATTEMPTS` times."""
    for planned in _stays(plan):
        for attempt in range(1, ATTEMPTS + 1):
            due = [run for run in planned.runs if run.id not in done]
            if not due:
                break
            stop.check()
            watcher.stay(planned)
            try:
                _carry_out_stay(equipment, plan, planned, due, done, patience, watcher, stop)
            except (StayError, HostLostError, RunError) as error:
                message = "; ".join((str(error), *getattr(error, "__notes__", ())))
                equipment.writer.journal(
                    "stay failed", stay=planned.id, attempt=attempt, why=message
                )
                watcher.say(f"stay `{planned.id}` failed: {message}")
                if attempt == ATTEMPTS:
                    failures.append(f"{planned.id}: {message}")
                _restore_lost(equipment)


def _carry_out_stay(
    equipment: Equipment,
    plan: Plan,
    planned: StayPlan,
    due: list[RunPlan],
    done: set[str],
    patience: Patience,
    watcher: Watcher,
    stop: Stop,
) -> None:
    deployment, writer = plan.deployment(planned.deployment), equipment.writer
    name = writer.new_stay(planned.id)
    substrate = _substrate(equipment, deployment)
    platform = catalog.platform(deployment, equipment.testbed, substrate, equipment.trees, name)
    writer.journal("stay begins", stay=name, deployment=deployment.name)
    database = catalog.DATABASES[deployment.database.kind]()
    failed: RunError | None = None
    with living(planned, name, deployment, equipment, database, platform, substrate) as stay:
        writer.journal("stay ready", stay=name)
        for index, run in enumerate(due):
            stop.check()
            watcher.run(run, due[index + 1] if index + 1 < len(due) else _after(plan, planned))
            writer.journal("run begins", run=run.id, stay=name)
            try:
                record = carry_out_run(stay, run, patience, stop, watcher.say)
            except RunError as error:
                writer.journal("run failed", run=run.id, stay=name, why=str(error))
                failed, stay.spoiled = error, True
                continue
            done.add(run.id)
            writer.journal("run finished", run=run.id, stay=name, status=record.status.value)
            watcher.finished(record)
    writer.journal("stay ended", stay=name)
    if failed is not None:
        raise failed


def _stays(plan: Plan) -> Iterator[StayPlan]:
    for block in plan.blocks:
        yield from block.stays


def _after(plan: Plan, planned: StayPlan) -> RunPlan | None:
    """The first run of the stay after this one."""
    stays = list(_stays(plan))
    index = stays.index(planned) + 1
    return stays[index].runs[0] if index < len(stays) and stays[index].runs else None


def _open_substrates(
    stack: ExitStack, study: Study, plan: Plan, testbed: Testbed, *, keep: bool
) -> Mapping[str, Substrate]:
    """One substrate for each family that a deployment needs, on the hosts that need it."""
    substrates = {}
    for family in catalog.families(plan.deployments):
        users = [d for d in plan.deployments if catalog.family(d) == family]
        groups = {deployment.hosts for deployment in users}
        if any(deployment.client is ClientPlace.CONTAINER for deployment in users):
            groups.add(CLIENT_GROUP)
        hosts = tuple(host for host in testbed.hosts if host.group in groups)
        substrates[family] = stack.enter_context(
            catalog.open_substrate(family, study.substrate, testbed, hosts, keep=keep)
        )
    return substrates


def _substrate(equipment: Equipment, deployment: Deployment) -> Substrate | None:
    family = catalog.family(deployment)
    return equipment.substrates[family] if family is not None else None


def _environment(equipment: Equipment) -> dict[str, str | int | float | bool | None]:
    facts = {"dunnage.version": __version__, **equipment.testbed.environment()}
    for family, substrate in equipment.substrates.items():
        facts |= {f"{family}.{key}": value for key, value in substrate.facts().items()}
    return facts


def _restore_lost(equipment: Equipment) -> None:
    """Bring lost hosts back, and what must live on them; raises when one stays lost."""
    for name in equipment.testbed.lost():
        equipment.testbed.restore(name)
        for substrate in equipment.substrates.values():
            substrate.mend(name)
        equipment.writer.journal("host restored", host=name)
