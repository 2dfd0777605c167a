"""A block whose deployments live at once, to be driven in turns."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import AbstractContextManager, ExitStack, contextmanager
from functools import partial

from dunnage.errors import DunnageError
from dunnage.model.plan import RunPlan, StayPlan
from dunnage.runner.ending import concerning
from dunnage.runner.in_turns import measure
from dunnage.runner.living_stay import living_stay
from dunnage.runner.run import until_undisturbed
from dunnage.runner.stay import Stay
from dunnage.runner.substrates import rest_idle
from dunnage.runner.work import Work, until_done
from dunnage.store.events import BEGINS, FINISHED, LEFT, READY, RUN_BEGINS


def carry_out_block(work: Work, planned: Sequence[StayPlan]) -> DunnageError | None:
    """Measure what is due of stays that live together; return why it failed in the end.

    In new ones once more if it fails: the block is whole or it is not there, because with fewer
    neighbours than in other blocks its deployments would not be the same. Raises
    InterruptedRunError when the user stopped it.
    """
    return until_done(
        work,
        lambda: bool(_due(work, planned)),
        lambda: _carry_out(work, planned),
        planned[0],
        f"the stays of block {planned[0].block}",
    )


def _due(work: Work, planned: Sequence[StayPlan]) -> list[tuple[RunPlan, ...]]:
    """Runs of all deployments that are driven together, where one of them has no record yet."""
    together = zip(*(stay.runs for stay in planned), strict=True)
    return [runs for runs in together if any(run.id not in work.done for run in runs)]


def _carry_out(work: Work, planned: Sequence[StayPlan]) -> None:
    writer = work.equipment.writer
    with work.stop.until_left(ExitStack()) as stack:
        stays = _living(work, planned, stack)
        for runs in _due(work, planned):
            work.stop.check()
            work.watcher.run(runs[0], None)
            writer.journal(RUN_BEGINS, run=runs[0].id, stay=stays[0].name)
            before = set(work.done)
            records = until_undisturbed(partial(measure, stays, runs), stays, work)
            for record in records:
                writer.journal(
                    FINISHED, run=record.run, stay=record.stay, status=record.status.value
                )
                work.outlook.finished(record)
            work.watcher.finished([record for record in records if record.run not in before])
    for stay in stays:
        writer.journal(LEFT, stay=stay.name)


def _living(work: Work, planned: Sequence[StayPlan], stack: ExitStack) -> list[Stay]:
    """Bring all deployments up side by side; they go down with the stack, side by side as well."""
    writer = work.equipment.writer
    scopes = []
    for plan in planned:
        work.watcher.stay(plan)
        name = writer.new_stay(plan.id)
        deployment = work.deployment(plan)
        writer.journal(BEGINS, stay=name, deployment=deployment.name)
        scope = living_stay(work.equipment, plan, name, deployment, together=True)
        scopes.append(named(scope, deployment.name))
    stays = stack.enter_context(side_by_side(scopes))
    for stay in stays:
        writer.journal(READY, stay=stay.name)
    rest_idle(work.equipment, stays, stack)
    return stays


@contextmanager
def named(scope: AbstractContextManager[Stay], deployment: str) -> Iterator[Stay]:
    """The scope of a stay; where it does not come up, the error says which deployment's it is."""
    with ExitStack() as stack:
        with concerning(deployment):
            stay = stack.enter_context(scope)
        yield stay


@contextmanager
def side_by_side(scopes: Sequence[AbstractContextManager[Stay]]) -> Iterator[list[Stay]]:
    """Enter and leave scopes all at once; the first error is raised when all have been left."""
    with ThreadPoolExecutor(max_workers=max(1, len(scopes))) as pool:
        entered = [pool.submit(scope.__enter__) for scope in scopes]
        try:
            wait(entered)
            yield [entry.result() for entry in entered]
        finally:
            kind, error, trace = sys.exc_info()
            wait(entered)  # the user may have ended the wait above
            left = [
                pool.submit(scope.__exit__, kind, error, trace)
                for scope, entry in zip(scopes, entered, strict=True)
                if entry.exception() is None
            ]
            wait(left)
            for again in (leaving.exception() for leaving in left):
                if again is not None and again is not error:
                    raise again
