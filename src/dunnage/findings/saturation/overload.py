"""Which deployments could not keep up with an open load, as sentences."""

from __future__ import annotations

from dunnage.analysis.runs import Runs, Setting
from dunnage.model.analysis import Analysis, Overload
from dunnage.wording import numbers, terms


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
