"""Drive a new deployment before its first run: some servers compile what they do as they go.

Java interprets, then compiles what is called often, and throws away what it compiled on a wrong
guess. On a third of a core that takes a minute, with seconds in which hardly anything is answered;
the warm-up of a run of some seconds would leave all that in the first runs of every stay.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from dunnage.model.choices import Arrivals, Phase
from dunnage.model.deployment import Workload
from dunnage.model.level import Level
from dunnage.model.plan import RunPlan
from dunnage.model.study import INSERTING
from dunnage.runner.drive import drive, order_for
from dunnage.runner.stay import Stay


def condition(stay: Stay, plan: RunPlan) -> None:
    """Drive all workloads of a stay in turn, once, before the run that is first to need it.

    They last as long as the study's `conditioning`, all together. Nothing of it is counted, errors
    neither. A run that measures loading is not prepared for: the database must be empty. Raises
    RunError when the generator fails.
    """
    load = stay.equipment.study.load
    if stay.conditioned or not load.conditioning or plan.workload.phase is Phase.LOAD:
        return
    workloads = _workloads(stay.plan.runs, plan.workload)
    done = 0
    for workload in workloads:
        order = replace(
            order_for(stay, plan),
            workload=workload,
            level=Level(threads=_threads(stay.plan.runs, load.connections)),
            arrivals=Arrivals.CONSTANT,
            duration=load.conditioning / len(workloads),
        )
        # Where load comes in turns, all stays of a block are driven from one client at once.
        _, measurement = drive(stay, order, f"conditioning/{plan.id}/{workload.name}")
        done += measurement.operations["all"].count
    stay.conditioned = True
    stay.equipment.writer.journal("conditioned", stay=stay.name, operations=done)


def _workloads(runs: Iterable[RunPlan], at_hand: Workload) -> tuple[Workload, ...]:
    """Those that leave the database as it is; reads alone if there is none.

    Each finds the records that are there for the run `at_hand`.
    """
    leave = {run.workload.name: run.workload for run in runs if run.workload.phase is Phase.RUN}
    leaving = [workload for _, workload in sorted(leave.items()) if workload.core not in INSERTING]
    chosen = leaving or [at_hand.model_copy(update={"core": "C"})]
    return tuple(workload.model_copy(update={"records": at_hand.records}) for workload in chosen)


def _threads(runs: Iterable[RunPlan], connections: int) -> int:
    """As many operations in flight as the busiest closed loop of the stay has."""
    return max((run.level.threads for run in runs if run.level.threads), default=connections)
