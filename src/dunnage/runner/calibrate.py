"""The capacity of the baseline, from the runs of the calibration stay."""

from __future__ import annotations

from collections.abc import Iterable
from statistics import median

from dunnage.analysis.checks import against
from dunnage.analysis.values import values
from dunnage.errors import StayError
from dunnage.model.calibration import Calibration, Capacity
from dunnage.model.check import Status
from dunnage.model.choices import Phase
from dunnage.model.load_spec import LoadSpec
from dunnage.model.plan import CalibrationPlan, Plan
from dunnage.model.record import Record
from dunnage.study.enough import never_valid
from dunnage.wording import checks


def calibrated(plan: CalibrationPlan, records: Iterable[Record]) -> Calibration:
    """Return the median throughput of each workload.

    A run that is not valid counts only where none of its workload is: a rate has to be had, and
    deployments are compared at the same rate whatever it is. Raises StayError when a workload has
    no run that answered anything.
    """
    finished = list(records)
    capacities = {}
    for name in dict.fromkeys(run.workload.name for run in plan.stay.runs):
        mine = [record for record in finished if record.workload.name == name]
        reached = {record.run: values(record).get("throughput", 0.0) for record in mine}
        spoilt = {
            record.run: against(record.checks)
            for record in mine
            if record.status is not Status.VALID
        }
        counted = [reached[run] for run in reached if run not in spoilt] or list(reached.values())
        counted = [throughput for throughput in counted if throughput > 0]
        if not counted:
            raise StayError(
                f"the capacity of `{plan.deployment.name}` under workload `{name}` is not known: "
                f"{'; '.join(map(checks.failed, spoilt.values())) or 'it has no run'}",
                where=plan.stay.id,
            )
        capacities[name] = Capacity(throughput=median(counted), runs=reached, spoilt=spoilt)
    (level,) = {run.level.threads for run in plan.stay.runs}
    return Calibration(deployment=plan.deployment.name, threads=level or 1, capacities=capacities)


def insist_enough(made: Calibration, plan: Plan, load: LoadSpec) -> None:
    """Raise StayError where a share of the capacity is so low that no run of it could be valid.

    Of a rate that stands in the file this is known before anything starts; of a share only now.
    """
    for run in plan.runs():
        rate = made.made(run.level, run.workload.name).rate
        if run.level.share is None or rate is None or run.workload.phase is Phase.LOAD:
            continue
        seconds = (load.operations or 0) / rate if load.duration is None else load.duration
        if why := never_valid(rate, seconds):
            raise StayError(
                f"{why}; write another share or `duration` under `load`",
                where=f"workload {run.workload.name} at {run.level.label}",
                hint="dunnage run STUDY  # a new result",
            )


def told(baseline: Calibration) -> str:
    """Return what was found as one sentence."""
    rates = ", ".join(
        f"{name} {capacity.throughput:.0f} op/s" for name, capacity in baseline.capacities.items()
    )
    spoilt = sum(len(capacity.spoilt) for capacity in baseline.capacities.values())
    runs = sum(len(capacity.runs) for capacity in baseline.capacities.values())
    doubt = f" ({spoilt} of {runs} runs are not valid)" if spoilt else ""
    return f"the capacity of `{baseline.deployment}` at {baseline.threads} threads: {rates}{doubt}"
