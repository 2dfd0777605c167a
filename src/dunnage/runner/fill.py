"""Make the database hold what a run expects, and wait until it has nothing left to do."""

from __future__ import annotations

from dataclasses import dataclass

from dunnage.errors import RunError
from dunnage.model.choices import Arrivals, Phase
from dunnage.model.deployment import Workload
from dunnage.model.level import Level
from dunnage.model.load import LoadOrder
from dunnage.model.plan import RunPlan
from dunnage.model.study import INSERTING
from dunnage.runner.drive import drive
from dunnage.runner.formation import take
from dunnage.runner.stay import Stay

LOADING_THREADS = 32
"""Operations in flight while records are put in for a run that does not measure loading; one for
each client at least."""

LOADS = 5
"""Times that putting them in is tried in one stay."""


@dataclass(frozen=True)
class Settled:
    """A database that had nothing left to do."""

    data_size: float | None
    """Bytes of its data; None where it does not tell."""
    seconds: float
    """How long it was waited for."""


def fill(stay: Stay, plan: RunPlan) -> None:
    """Make the database hold what the run expects: nothing before loading, all records else.

    A stay that started with a snapshot holds them whatever became of its runs: none of them may
    put records in or take any away.
    """
    if stay.kept is not None:
        return
    wanted = plan.workload
    loading = wanted.phase is Phase.LOAD
    used = stay.filled is not None and (loading or _differs(stay.filled, wanted))
    if used or stay.spoiled:
        _empty(stay)
    if stay.filled is None and not loading:
        load(stay, wanted, plan.seed, plan.id)
    stay.filled = wanted


def _empty(stay: Stay) -> None:
    spec = stay.deployment.database
    take(stay.platform, stay.database.reset(spec, stay.reservation), stay.equipment.testbed.clock)
    stay.filled, stay.spoiled = None, False


def load(stay: Stay, workload: Workload, seed: int, name: str) -> None:
    """Put all records of a workload into an empty database, for a run or a stay of that name.

    From the beginning again if an operation failed, which is written down: a server that has just
    started may let some time out. Nothing of this is measured. Raises RunError when records were
    not stored in the last try either.
    """
    in_flight = max(LOADING_THREADS, len(stay.clients))
    order = LoadOrder(
        workload=workload,
        phase=Phase.LOAD,
        level=Level(threads=in_flight),
        target=stay.target.to_store(),
        connections=in_flight,
        arrivals=Arrivals.CONSTANT,
        timeout=stay.equipment.study.load.timeout,
        seed=seed,
    )
    for attempt in range(1, LOADS + 1):
        _, measurement = drive(stay, order, f"loading/{name}")
        stored = measurement.operations["all"]
        if stored.count == workload.records:
            return
        errors = ", ".join(f"{count} × {kind}" for kind, count in sorted(stored.errors.items()))
        why = f"loading stored {stored.count} of {workload.records} records; errors: {errors}"
        stay.equipment.writer.journal("loading failed", of=name, attempt=attempt, why=why)
        if attempt < LOADS:
            _empty(stay)
    raise RunError(why, where=name)


def _differs(filled: Workload, wanted: Workload) -> bool:
    changed = filled.phase is Phase.RUN and filled.core in INSERTING
    return changed or filled.records != wanted.records


def settle(stay: Stay) -> Settled:
    """Wait until the database has nothing left to do.

    Raises StayError when it still has after the time that its steps may take.
    """
    clock = stay.equipment.testbed.clock
    began = clock.now()
    spec = stay.deployment.database
    facts = take(stay.platform, stay.database.settle(spec, stay.reservation), clock)
    size = facts.get("data_size")
    return Settled(
        data_size=float(size) if isinstance(size, int | float) else None,
        seconds=clock.now() - began,
    )
