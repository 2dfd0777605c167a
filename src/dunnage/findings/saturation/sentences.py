"""What rates are shares of, and which deployments could not keep up with them, as sentences."""

from __future__ import annotations

from dunnage.analysis.runs import Runs, Setting
from dunnage.model.analysis import Analysis, Overload
from dunnage.model.calibration import Capacity
from dunnage.wording import checks, numbers, terms


def capacities(analysis: Analysis) -> tuple[str, ...]:
    """One sentence for each workload; none where no rate is a share."""
    calibration = analysis.calibration
    if calibration is None:
        return ()
    of = f"{terms.plain(calibration.deployment)} at {numbers.count(calibration.threads, 'thread')}"
    where = f" in {terms.plain(calibration.taken_from)}" if calibration.taken_from else ""
    return tuple(
        f"rates are shares of what {of} reached{where}, workload {terms.plain(workload)}: "
        f"{numbers.value('throughput', capacity.throughput)}{_doubt(capacity)}"
        for workload, capacity in calibration.capacities.items()
    )


def _doubt(capacity: Capacity) -> str:
    if not capacity.spoilt:
        return ""
    found = (terms.plain(checks.failed(spoilt)) for spoilt in capacity.spoilt.values())
    reasons = "; ".join(dict.fromkeys(found))
    if capacity.doubtful:
        return f"; not reliable, as none of its {_runs(capacity)} is valid ({reasons})"
    return f"; {len(capacity.spoilt)} of {_runs(capacity)} left out ({reasons})"


def _runs(capacity: Capacity) -> str:
    return numbers.count(len(capacity.runs), "run")


def over_capacity(analysis: Analysis) -> tuple[str, ...]:
    """One sentence for each deployment, workload and level with a valid run that was too much."""
    runs = Runs(analysis.runs)
    return tuple(
        _sentence(overload, setting)
        for deployment, setting in runs.measured
        if (overload := runs.overload(deployment, setting)) is not None
    )


def _sentence(overload: Overload, setting: Setting) -> str:
    least = ""
    if overload.least is not None:
        least = f", {numbers.value('achieved', overload.least)} of the rate at worst"
    return (
        f"{terms.plain(overload.deployment)}, workload {terms.plain(setting.workload)}, "
        f"{terms.level(setting.level)}: {overload.over} of {numbers.count(overload.runs, 'run')}"
        f"{least}; throughput is compared, latencies are not"
    )
