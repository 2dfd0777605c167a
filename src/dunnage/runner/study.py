"""Carry out a plan: testbed, then block by block, stay by stay, run by run, saved as each ends."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace

from dunnage import __version__, catalog
from dunnage.contracts import Substrate, Testbed
from dunnage.errors import DunnageError, RunError
from dunnage.model.choices import ClientPlace, Data
from dunnage.model.deployment import Deployment, Workload
from dunnage.model.plan import BEFORE, Plan, RunPlan, StayPlan
from dunnage.model.study import CLIENT_GROUP, Study
from dunnage.runner import known_loss, spare, together
from dunnage.runner.calibrate import calibrated, insist_enough, told
from dunnage.runner.interrupt import Stop
from dunnage.runner.living_stay import living_stay
from dunnage.runner.make_snapshot import make_snapshot
from dunnage.runner.outlook import BARREN
from dunnage.runner.patience import Patience
from dunnage.runner.progress import Watcher
from dunnage.runner.run import carry_out as carry_out_run
from dunnage.runner.snapshots import KeptSnapshot
from dunnage.runner.stay import Equipment
from dunnage.runner.work import Work, said, until_done
from dunnage.store.events import FINISHED, OPENED
from dunnage.store.read import open_result
from dunnage.store.write import ResultWriter
from dunnage.study.matrix import deployments
from dunnage.study.slots import slot, with_slots
from dunnage.study.snapshot import snapshot_name


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
    study: it is tried again in a new stay of the same block, then left out and told. Without the
    capacity that rates are shares of there is no study: failing to find it is raised.
    """
    failures: list[str] = []
    begun = open_result(writer.layout.root)
    done = {*finished, *(record.run for record in begun.alone_records)}
    patience = Patience.left(study.patience, begun.events())
    with ExitStack() as stack:
        with stop.at_once():
            stack.enter_context(catalog.measuring(study, watcher.say))
        testbed = stack.enter_context(
            catalog.open_testbed(
                with_slots(study, every_deployment(study, plan)), study.name, keep=keep
            )
        )
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
        writer.journal(OPENED, dunnage=__version__)
        work = _ready(
            known_loss.known(Work(equipment, plan, done, failures, patience, watcher, stop))
        )
        whole = _carry_out_blocks(work)
        while whole and (longer := spare.add(study, writer)) is not None:
            added = longer.model_copy(update={"blocks": longer.blocks[len(plan.blocks) :]})
            runs = len(tuple(added.runs()))
            watcher.more(runs, "spare blocks replace blocks with missing or disturbed runs")
            work = _ready(replace(work, plan=added))
            whole = _carry_out_blocks(work)
            plan = longer
        if whole:
            known_loss.check(work)
    missing = tuple(run.id for run in plan.runs() if run.id not in done)
    recorded = len(done & {run.id for run in plan.runs()})
    writer.journal("study finished", finished=recorded, missing=len(missing))
    return Outcome(recorded, missing, tuple(failures))


def _carry_out_blocks(work: Work) -> bool:
    """Carry out every stay that has runs to do, those of a block together where load has turns.

    Returns whether all blocks had their turn; what is left of a study without hope has not.
    """
    for block in work.plan.blocks:
        due = [run for stay in block.stays for run in stay.runs if run.id not in work.done]
        failures: dict[str, DunnageError | None] = {}
        apart = block.stays
        if work.equipment.study.load.turns is not None:
            failures[f"block {block.index}"] = together.carry_out_block(work, block.stays)
            apart = (block.alone,) if block.alone is not None else ()
        for planned in apart:
            failures[planned.id] = _until_done(work, planned, _after(work.plan, planned))
        for name, failure in failures.items():
            if failure is not None:
                work.failures.append(f"{name}: {said(failure)}")
        failed = {
            stay.deployment: said(failure)
            for stay in block.stays
            for failure in (failures.get(stay.id), failures.get(f"block {block.index}"))
            if failure is not None
        }
        if due and not _goes_on(work, due, failed):
            return False
    return True


def _goes_on(work: Work, due: Sequence[RunPlan], failed: Mapping[str, str]) -> bool:
    """Say what the block that just ended lets expect; returns whether the study goes on."""
    writer, outlook = work.equipment.writer, work.outlook
    again = f"dunnage run --resume {shlex.quote(str(writer.layout.root))}"
    told = outlook.after(due, work.done, failed, work.equipment.study.questions)
    if outlook.hopeless:
        why = f"nothing could be compared in {BARREN} blocks, because stays and runs failed"
        writer.journal("study stopped", why=why)
        work.watcher.say(f"the study stops: {why}. Mend what failed, then: {again}")
    elif told:
        work.watcher.say(
            f"{told} The study goes on, as this may end. To stop it after the current run: Ctrl-C; "
            f"to go on later: {again}"
        )
    return not outlook.hopeless


def _ready(work: Work) -> Work:
    """Find the capacity of the baseline if something that is due needs it."""
    due = (run for run in work.plan.runs() if run.id not in work.done)
    if any(run.level.share is not None for run in due):
        return replace(work, equipment=_calibrate(work))
    return work


def _calibrate(work: Work) -> Equipment:
    """What all stays share, with the capacity of the baseline; found once for a result."""
    writer, calibration = work.equipment.writer, work.plan.calibration
    result = open_result(writer.layout.root)
    if result.calibration is not None:
        insist_enough(result.calibration, work.plan, work.equipment.study.load)
        return replace(work.equipment, calibration=result.calibration)
    assert calibration is not None  # noqa: S101 (a plan with shares has one)
    own = replace(work, done={record.run for record in result.calibration_records})
    failure = _until_done(own, calibration.stay, next(work.plan.runs(), None))
    if failure is not None:
        raise failure
    made = calibrated(calibration, open_result(writer.layout.root).calibration_records)
    writer.calibration(made)
    capacities = {name: capacity.throughput for name, capacity in made.capacities.items()}
    writer.journal("calibrated", deployment=made.deployment, **capacities)
    work.watcher.say(told(made))
    insist_enough(made, work.plan, work.equipment.study.load)
    return replace(work.equipment, calibration=made)


def _until_done(work: Work, planned: StayPlan, upcoming: RunPlan | None) -> DunnageError | None:
    """Carry out a planned stay as `until_done` does; `upcoming` is the first run after it."""
    return until_done(
        work,
        lambda: bool(_due(work, planned)),
        lambda: _carry_out_stay(work, planned, upcoming),
        planned,
        f"stay `{planned.id}`",
    )


def _due(work: Work, planned: StayPlan) -> list[RunPlan]:
    return [run for run in planned.runs if run.id not in work.done]


def _carry_out_stay(work: Work, planned: StayPlan, upcoming: RunPlan | None) -> None:
    work.watcher.stay(planned)
    due = _due(work, planned)
    equipment, deployment = work.equipment, work.deployment(planned)
    writer = equipment.writer
    snapshot = _kept(work, deployment, due[0].workload)
    name = writer.new_stay(planned.id)
    writer.journal("stay begins", stay=name, deployment=deployment.name)
    failed: RunError | None = None
    with living_stay(equipment, planned, name, deployment, snapshot) as stay:
        writer.journal("stay ready", stay=name)
        for index, run in enumerate(due):
            work.stop.check()
            work.watcher.run(run, due[index + 1] if index + 1 < len(due) else upcoming)
            writer.journal("run begins", run=run.id, stay=name)
            try:
                record = carry_out_run(stay, run, work)
            except RunError as error:
                writer.journal("run failed", run=run.id, stay=name, why=str(error))
                failed, stay.spoiled = error, True
                continue
            writer.journal(FINISHED, run=run.id, stay=name, status=record.status.value)
            if planned in _stays(work.plan):  # neither the calibration's nor one alone
                work.watcher.finished([record])
                work.outlook.finished(record)
    writer.journal("stay ended", stay=name)
    if failed is not None:
        raise failed


def _kept(work: Work, deployment: Deployment, workload: Workload) -> KeptSnapshot | None:
    """The snapshot that a stay starts with; None where every stay puts its records in.

    If no host keeps it, it is made now, in a stay of its own: a stay that has put records in is
    another one than those that only find them, and no block shall hold it.
    """
    equipment = work.equipment
    if equipment.study.data is not Data.RESTORE:
        return None
    wanted = snapshot_name(deployment, workload.records)
    if wanted not in work.kept:
        work.stop.check()
        plan = StayPlan(
            id=f"data-{deployment.name}", block=BEFORE, deployment=deployment.name, runs=()
        )
        name = equipment.writer.new_stay(plan.id)
        equipment.writer.journal("snapshot begins", stay=name, deployment=deployment.name)
        work.watcher.say(
            f"stay `{name}` loads {workload.records:,} records; the others start with a copy"
        )
        at_full_speed = deployment.model_copy(update={"slowdown": 0.0})
        with living_stay(equipment, plan, name, at_full_speed) as stay:
            work.kept[wanted] = make_snapshot(stay, workload, wanted)
    return work.kept[wanted]


def every_deployment(study: Study, plan: Plan) -> list[Deployment]:
    """All that can run here, whatever part of them is in the plan."""
    skipped = {skip.deployment for skip in plan.skipped}
    return [each for each in deployments(study, catalog.OFFER) if each.name not in skipped]


def _stays(plan: Plan) -> Iterator[StayPlan]:
    for block in plan.blocks:
        yield from block.stays


def _after(plan: Plan, planned: StayPlan) -> RunPlan | None:
    """The first run of the stay after this one."""
    stays = list(_stays(plan))
    if planned not in stays:
        return None
    index = stays.index(planned) + 1
    return stays[index].runs[0] if index < len(stays) and stays[index].runs else None


def _open_substrates(
    stack: ExitStack, study: Study, plan: Plan, testbed: Testbed, *, keep: bool
) -> Mapping[str, Substrate]:
    """One substrate for each family that a deployment needs, on the hosts that need it."""
    substrates = {}
    needed = list(plan.deployments)
    if plan.calibration is not None:
        needed.append(plan.calibration.deployment)
    for family in catalog.families(needed):
        users = [d for d in needed if catalog.family(d) == family]
        groups = {deployment.hosts for deployment in users}
        if study.load.turns is not None:  # each may live on any of them
            places = range(len(every_deployment(study, plan)))
            groups = {slot(group, place) for group in groups for place in places}
        if any(deployment.client is ClientPlace.CONTAINER for deployment in users):
            groups.add(CLIENT_GROUP)
        hosts = tuple(host for host in testbed.hosts if host.group in groups)
        substrates[family] = stack.enter_context(
            catalog.open_substrate(family, study.substrate, testbed, hosts, keep=keep)
        )
    return substrates


def _environment(equipment: Equipment) -> dict[str, str | int | float | bool | None]:
    facts = {"dunnage.version": __version__, **equipment.testbed.environment()}
    for family, substrate in equipment.substrates.items():
        facts |= {f"{family}.{key}": value for key, value in substrate.facts().items()}
    return facts
