"""What rates are shares of, who could not keep up with them, and why probes were refused."""

from __future__ import annotations

from collections.abc import Iterable

from dunnage.analysis.runs import Runs, Setting
from dunnage.model.analysis import Analysis, Overload
from dunnage.model.calibration import Capacity
from dunnage.model.metrics import METRICS
from dunnage.model.open_load import Refusal
from dunnage.units import duration, percent
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
    runs = numbers.count(len(capacity.runs), "run")
    if capacity.doubtful:
        return f"; not reliable, as none of its {runs} is valid ({reasons})"
    return f"; {len(capacity.spoilt)} of {runs} left out ({reasons})"


def over_capacity(analysis: Analysis) -> tuple[str, ...]:
    """One sentence for each deployment, workload and level with a valid run that was too much."""
    runs = Runs(analysis.runs)
    return tuple(
        _overloaded(overload, setting)
        for deployment, setting in runs.measured
        if (overload := runs.overload(deployment, setting)) is not None
    )


def _overloaded(overload: Overload, setting: Setting) -> str:
    least = ""
    if overload.least is not None:
        least = f", {numbers.value('achieved', overload.least)} of the rate at worst"
    return (
        f"{terms.plain(overload.deployment)}, workload {terms.plain(setting.workload)}, "
        f"{terms.level(setting.level)}: {overload.over} of {numbers.count(overload.runs, 'run')}"
        f"{least}; throughput is compared, latencies are not"
    )


def refused(refusals: Iterable[Refusal]) -> str:
    """Every reason why a probe was not sustained: `80.0 % of the offered rate; errors`."""
    return "; ".join(map(_refusal, refusals))


def _refusal(refusal: Refusal) -> str:
    what, value, most = refusal.what, refusal.value, refusal.most
    if isinstance(value, str):
        return terms.plain(value)
    if value is None:
        return f"{'the offered rate' if what == 'offered' else what} is not known"
    if what == "achieved":
        return f"{percent(value)} of the offered rate"
    if what == "backlog.slope":
        return f"a backlog that grows by {duration(value)} a second"
    if what not in METRICS or most is None:
        return terms.plain(what)
    scale, unit = METRICS[what].scale, METRICS[what].unit
    return f"{what} {value * scale:.3g} {unit}, over {most * scale:g} {unit}"
