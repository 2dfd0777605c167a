"""Carry out a plan: testbed, then block by block, stay by stay, run by run, saved as each ends."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass, replace

from dunnage import __version__, catalog
from dunnage.model.deployment import Deployment
from dunnage.model.plan import Plan
from dunnage.model.study import Study
from dunnage.model.value import Scalar
from dunnage.runner import known_loss, spare
from dunnage.runner.blocks import carry_out_blocks, carry_out_stay
from dunnage.runner.calibrate import calibrated, insist_enough, told
from dunnage.runner.interrupt import Stop
from dunnage.runner.patience import Patience
from dunnage.runner.progress import Watcher
from dunnage.runner.stay import Equipment
from dunnage.runner.substrates import (
    obtain_software,
    open_substrates,
    substrate_facts,
    testbed_of,
)
from dunnage.runner.work import Work
from dunnage.store.events import OPENED, STUDY_FINISHED
from dunnage.store.read import open_result
from dunnage.store.write import ResultWriter
from dunnage.study.matrix import deployments


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
    with stop.until_left(ExitStack()) as stack:
        with stop.at_once():
            obtain_software(study, plan, watcher.say)
            stack.enter_context(catalog.measuring(study, watcher.say))
        every = every_deployment(study, plan)
        testbed = stack.enter_context(
            catalog.open_testbed(
                testbed_of(study, every),
                study.name,
                keep=keep,
                storages={each.storage for each in plan.brought_up()},
                tell=watcher.say,
            )
        )
        equipment = Equipment(
            study=study,
            testbed=testbed,
            substrates=open_substrates(
                stack, study, plan, every, testbed, keep=keep, tell=watcher.say
            ),
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
        whole = carry_out_blocks(work)
        while whole and (longer := spare.add(study, writer)) is not None:
            added = longer.model_copy(update={"blocks": longer.blocks[len(plan.blocks) :]})
            runs = len(tuple(added.runs()))
            watcher.more(runs, "spare blocks replace blocks with missing or disturbed runs")
            work = _ready(replace(work, plan=added))
            whole = carry_out_blocks(work)
            plan = longer
        if whole:
            known_loss.check(work)
    missing = tuple(run.id for run in plan.runs() if run.id not in done)
    recorded = len(done & {run.id for run in plan.runs()})
    writer.journal(STUDY_FINISHED, finished=recorded, missing=len(missing))
    return Outcome(recorded, missing, tuple(failures))


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
    failure = carry_out_stay(own, calibration.stay, next(work.plan.runs(), None))
    if failure is not None:
        raise failure
    made = calibrated(calibration, open_result(writer.layout.root).calibration_records)
    writer.calibration(made)
    capacities = {name: capacity.throughput for name, capacity in made.capacities.items()}
    writer.journal("calibrated", deployment=made.deployment, **capacities)
    work.watcher.say(told(made))
    insist_enough(made, work.plan, work.equipment.study.load)
    return replace(work.equipment, calibration=made)


def every_deployment(study: Study, plan: Plan) -> list[Deployment]:
    """All that can run here, whatever part of them is in the plan."""
    skipped = {skip.deployment for skip in plan.skipped}
    return [each for each in deployments(study, catalog.OFFER) if each.name not in skipped]


def _environment(equipment: Equipment) -> dict[str, Scalar]:
    return {
        "dunnage.version": __version__,
        **equipment.testbed.environment(),
        **substrate_facts(equipment.substrates),
    }
