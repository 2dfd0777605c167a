"""Carry out blocks: stay by stay, run by run, saved as each ends; and say how it is getting on."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence

from dunnage.errors import DunnageError, RunError
from dunnage.model.choices import Data
from dunnage.model.deployment import Deployment, Workload
from dunnage.model.plan import BEFORE, Plan, RunPlan, StayPlan
from dunnage.runner import together
from dunnage.runner.living_stay import living_stay
from dunnage.runner.make_snapshot import make_snapshot
from dunnage.runner.outlook import BARREN
from dunnage.runner.run import carry_out as carry_out_run
from dunnage.runner.snapshots import KeptSnapshot
from dunnage.runner.work import Work, said, until_done
from dunnage.store.events import (
    BEGINS,
    FAILED,
    FINISHED,
    LEFT,
    READY,
    RUN_BEGINS,
    SNAPSHOT_BEGINS,
)
from dunnage.store.read import open_result
from dunnage.study.masked import masked_line
from dunnage.study.snapshot import snapshot_name


def carry_out_blocks(work: Work) -> bool:
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
            failures[planned.id] = carry_out_stay(work, planned, _after(work.plan, planned))
        for name, failure in failures.items():
            if failure is not None:
                work.failures.append(f"{name}: {said(failure)}")
        failed = {
            stay.deployment: said(failure)
            for stay in block.stays
            for failure in (failures.get(stay.id), failures.get(f"block {block.index}"))
            if failure is not None
        }
        if due and not _goes_on(work, due, failed, last=block is work.plan.blocks[-1]):
            return False
    return True


def _goes_on(work: Work, due: Sequence[RunPlan], failed: Mapping[str, str], *, last: bool) -> bool:
    """Say what the block that just ended lets expect; returns whether the study goes on."""
    writer, outlook = work.equipment.writer, work.outlook
    root = writer.layout.root
    resumable = not masked_line(open_result(root).study_text)
    again = f"dunnage run --resume {shlex.quote(str(root))}"
    told = outlook.after(due, work.done, failed, work.equipment.study.questions)
    if outlook.hopeless:
        why = f"nothing could be compared in {BARREN} blocks, because stays and runs failed"
        writer.journal("study stopped", of=work.equipment.study.name, why=why)
        onward = f"then: {again}" if resumable else "then start it again"
        work.watcher.say(f"the study stops: {why}. Mend what failed, {onward}")
    elif told and last:
        work.watcher.say(told)
    elif told:
        onward = f"to go on later: {again}" if resumable else "it cannot go on later"
        work.watcher.say(
            f"{told} The study goes on, as this may end. To stop it after the current run: Ctrl-C; "
            f"{onward}"
        )
    return not outlook.hopeless


def carry_out_stay(work: Work, planned: StayPlan, upcoming: RunPlan | None) -> DunnageError | None:
    """Carry out a planned stay as `until_done` does; `upcoming` is the first run after it."""
    return until_done(
        work,
        lambda: bool(_due(work, planned)),
        lambda: _carry_out(work, planned, upcoming),
        planned,
        f"stay `{planned.id}`",
    )


def _due(work: Work, planned: StayPlan) -> list[RunPlan]:
    return [run for run in planned.runs if run.id not in work.done]


def _carry_out(work: Work, planned: StayPlan, upcoming: RunPlan | None) -> None:
    work.watcher.stay(planned)
    due = _due(work, planned)
    equipment, deployment = work.equipment, work.deployment(planned)
    writer = equipment.writer
    snapshot = _kept(work, deployment, due[0].workload)
    name = writer.new_stay(planned.id)
    writer.journal(BEGINS, stay=name, deployment=deployment.name)
    failed: RunError | None = None
    living = living_stay(equipment, planned, name, deployment, snapshot)
    with work.stop.until_left(living) as stay:
        writer.journal(READY, stay=name)
        for index, run in enumerate(due):
            work.stop.check()
            work.watcher.run(run, due[index + 1] if index + 1 < len(due) else upcoming)
            writer.journal(RUN_BEGINS, run=run.id, stay=name)
            try:
                record = carry_out_run(stay, run, work)
            except RunError as error:
                writer.journal(FAILED, run=run.id, stay=name, why=str(error))
                failed, stay.spoiled = error, True
                continue
            writer.journal(FINISHED, run=run.id, stay=name, status=record.status.value)
            if planned in _stays(work.plan):  # neither the calibration's nor one alone
                work.watcher.finished([record])
                work.outlook.finished(record)
    writer.journal(LEFT, stay=name)
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
        equipment.writer.journal(SNAPSHOT_BEGINS, stay=name, deployment=deployment.name)
        work.watcher.say(
            f"stay `{name}` loads {workload.records:,} records; the others start with a copy"
        )
        at_full_speed = deployment.model_copy(update={"slowdown": 0.0})
        living = living_stay(equipment, plan, name, at_full_speed)
        with work.stop.until_left(living) as stay:
            work.kept[wanted] = make_snapshot(stay, workload, wanted)
    return work.kept[wanted]


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
