"""Which deployments could not keep up with an open load, as sentences."""

from __future__ import annotations

from dunnage.model.analysis import Analysis, RunSummary
from dunnage.model.check import Status
from dunnage.wording import numbers, terms


def over_capacity(analysis: Analysis) -> tuple[str, ...]:
    """One sentence for each deployment, workload and level with a valid run that was too much."""
    places: dict[tuple[str, str, str], list[RunSummary]] = {}
    for run in analysis.runs:
        if run.status == Status.VALID:
            places.setdefault((run.deployment, run.workload, run.level), []).append(run)
    return tuple(
        _sentence(*place, runs) for place, runs in places.items() if any(map(_is_over, runs))
    )


def _is_over(run: RunSummary) -> bool:
    return run.over_capacity


def _sentence(deployment: str, workload: str, level: str, runs: list[RunSummary]) -> str:
    over = [run for run in runs if run.over_capacity]
    achieved = [run.values["achieved"] for run in over if "achieved" in run.values]
    least = f", {numbers.value('achieved', min(achieved))} of the rate at worst" if achieved else ""
    return (
        f"{terms.plain(deployment)}, workload {terms.plain(workload)}, {terms.level(level)}: "
        f"{len(over)} of {numbers.count(len(runs), 'run')}{least}; throughput is compared, "
        "latencies are not"
    )
