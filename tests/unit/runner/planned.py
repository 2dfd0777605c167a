"""A run as a plan has it."""

from __future__ import annotations

from dunnage.model.choices import Phase
from dunnage.model.deployment import Workload
from dunnage.model.level import Level
from dunnage.model.plan import RunPlan

ONE_THREAD = Level(threads=1)


def one_run(
    core: str = "A", records: int = 100, phase: Phase = Phase.RUN, level: Level = ONE_THREAD
) -> RunPlan:
    """The only run of a core workload, called `run-A`."""
    return RunPlan(
        id=f"run-{core}",
        block=1,
        deployment="native",
        workload=Workload(name=core, core=core, phase=phase, records=records),
        level=level,
        repeat=1,
        position=0,
        seed=1,
    )
