"""How long a plan will take, before anything was measured; and plans of a part of the runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fnmatch import fnmatchcase

from dunnage.errors import UsageError
from dunnage.model.plan import Plan, RunPlan
from dunnage.model.study import Phase, Study
from dunnage.study.suggest import hint

STAY_SECONDS: Mapping[str, float] = {"fake": 0.0, "native": 1.5, "docker": 3.0}
"""Guesses of what it takes to bring a deployment up and down; real ones replace them as a study
goes on."""
OTHER_STAY_SECONDS = 10.0
"""The guess for a platform that is not listed: an orchestrator."""
RUN_SECONDS = 1.0
"""Around every run: settling, samplers, reading back what they saw."""
LOAD_RATE = 20_000.0
"""Records loaded per second."""
RUN_RATE = 20_000.0
"""Operations per second where neither a duration nor a rate says how long a run is."""


def estimate_seconds(plan: Plan, study: Study) -> float:
    """Return about how many seconds a plan takes."""
    if study.testbed.kind == "fake":
        return 0.002 * sum(1 for _ in plan.runs())  # Its clock runs ahead of ours.
    return sum(
        STAY_SECONDS.get(plan.deployment(stay.deployment).platform, OTHER_STAY_SECONDS)
        + max((run.workload.records for run in stay.runs), default=0) / LOAD_RATE
        + sum(_run_seconds(run, study) for run in stay.runs)
        for block in plan.blocks
        for stay in block.stays
    )


def _run_seconds(run: RunPlan, study: Study) -> float:
    load = study.load
    if run.workload.phase is Phase.LOAD:
        measured = run.workload.records / LOAD_RATE
    elif load.duration is not None:
        measured = load.duration
    else:
        measured = (load.operations or 0) / (run.level.rate or RUN_RATE)
    return load.warmup + measured + RUN_SECONDS


def filter_plan(plan: Plan, only: Sequence[str]) -> Plan:
    """Return the runs whose deployment, workload or level is named, as their ids and places stay.

    A name may hold `*` and `?`. Names of the same kind widen the choice, names of different kinds
    narrow it: `docker-* A C` means workloads A and C of every Docker deployment. Raises UsageError
    when a name fits nothing.
    """
    kinds: Mapping[str, Callable[[RunPlan], str]] = {
        "deployment": lambda run: run.deployment,
        "workload": lambda run: run.workload.name,
        "level": lambda run: run.level.name,
    }
    names = {kind: sorted({of(run) for run in plan.runs()}) for kind, of in kinds.items()}
    chosen: dict[str, list[str]] = {}
    for pattern in only:
        kind = next(
            (kind for kind in kinds if any(fnmatchcase(name, pattern) for name in names[kind])),
            None,
        )
        if kind is None:
            known = [name for kind in kinds for name in names[kind]]
            raise UsageError(
                f"no deployment, workload or level fits `{pattern}`", hint=hint(pattern, known)
            )
        chosen.setdefault(kind, []).append(pattern)

    def wanted(run: RunPlan) -> bool:
        return all(
            any(fnmatchcase(kinds[kind](run), pattern) for pattern in patterns)
            for kind, patterns in chosen.items()
        )

    blocks = []
    for block in plan.blocks:
        kept = [
            stay.model_copy(update={"runs": tuple(filter(wanted, stay.runs))})
            for stay in block.stays
        ]
        stays = tuple(stay for stay in kept if stay.runs)
        blocks.append(block.model_copy(update={"stays": stays}))
    left = {stay.deployment for block in blocks for stay in block.stays}
    return plan.model_copy(
        update={
            "blocks": tuple(block for block in blocks if block.stays),
            "deployments": tuple(each for each in plan.deployments if each.name in left),
        }
    )
