"""The stay that finds the baseline's capacity, where a study's rates are shares of it."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

from dunnage.errors import UnavailableError
from dunnage.model.deployment import Deployment
from dunnage.model.level import Level
from dunnage.model.load_spec import LoadSpec
from dunnage.model.plan import BEFORE, CalibrationPlan, RunPlan, Skipped, StayPlan
from dunnage.model.study import Study
from dunnage.study.chance import seed
from dunnage.study.matrix import baseline, shares, workload

NAME = "calibration"


def calibration_plan(
    study: Study, present: Sequence[Deployment], skipped: Sequence[Skipped] = ()
) -> CalibrationPlan | None:
    """Return a stay of the baseline with a few runs of each workload; None where none is needed.

    Raises UnavailableError when the baseline is among the skipped.
    """
    if not shares(study.load):
        return None
    name = baseline(study)
    deployment = next((each for each in present if each.name == name), None)
    if deployment is None:
        reason = next((each.reason for each in skipped if each.deployment == name), "it is not")
        raise UnavailableError(
            f"rates are shares of the capacity of `{name}`, which cannot run here: {reason}",
            where=study.name,
            hint="dunnage doctor",
        )
    level = Level(threads=threads(study.load))
    repeats = range(1, study.load.calibration.runs + 1)
    runs = tuple(
        RunPlan(
            id=f"{NAME}-{spec.name}-{level.name}-{repeat}",
            block=BEFORE,
            deployment=deployment.name,
            workload=workload(spec, study),
            level=level,
            repeat=repeat,
            position=position,
            seed=seed(f"{study.seed}:{NAME}:{spec.name}:{repeat}"),
        )
        for position, (spec, repeat) in enumerate(product(study.workloads, repeats))
    )
    stay = StayPlan(id=NAME, block=BEFORE, deployment=deployment.name, runs=runs)
    return CalibrationPlan(deployment=deployment, stay=stay)


def threads(load: LoadSpec) -> int:
    """Return the threads of the closed loop that finds the capacity."""
    return load.calibration.threads or max(load.threads, default=load.connections)
