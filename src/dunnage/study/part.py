"""A plan of a part of the runs of another one."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fnmatch import fnmatchcase

from dunnage.errors import UsageError, shown
from dunnage.model.plan import CalibrationPlan, Plan, RunPlan
from dunnage.study.suggest import hint


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
    chosen: dict[str, set[str]] = {}
    for pattern in only:
        found = {
            kind: {name for name in known if fnmatchcase(name, pattern)}
            for kind, known in names.items()
        }
        kind = next((kind for kind in kinds if found[kind]), None)
        if kind is None:
            known = [name for kind in kinds for name in names[kind]]
            raise UsageError(
                f"no deployment, workload or level matches {shown(pattern)}; {hint(pattern, known)}"
            )
        chosen.setdefault(kind, set()).update(found[kind])

    def wanted(run: RunPlan) -> bool:
        return all(kinds[kind](run) in matching for kind, matching in chosen.items())

    blocks = tuple(block for each in plan.blocks if (block := each.part(wanted)).stays)
    left = {stay.deployment for block in blocks for stay in block.stays}
    kept = tuple(each for each in plan.deployments if each.name in left)
    part = plan.model_copy(update={"blocks": blocks, "deployments": kept})
    return part.model_copy(update={"calibration": _still_needed(part)})


def _still_needed(part: Plan) -> CalibrationPlan | None:
    """The calibration of those workloads whose rates are shares of what it finds."""
    workloads = {run.workload.name for run in part.runs() if run.level.share is not None}
    if part.calibration is None or not workloads:
        return None
    stay = part.calibration.stay.part(lambda run: run.workload.name in workloads)
    return part.calibration.model_copy(update={"stay": stay})
