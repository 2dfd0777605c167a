"""Which rates each deployment kept up with, and why latencies are not compared where it did not."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from dunnage.analysis.groups import grouped
from dunnage.model.analysis import Analysis
from dunnage.model.open_load import OpenLevel
from dunnage.units import duration
from dunnage.wording import terms

Place = tuple[str, str, str]
"""Deployment, workload and level."""


@dataclass(frozen=True)
class OpenLevels:
    """All rates of one workload."""

    title: str
    rows: tuple[tuple[OpenLevel, str], ...]
    """Each deployment at each rate, and whether its latencies are compared."""
    over: bool
    """Whether a deployment could not keep up with one of them."""
    why: tuple[str, ...]
    """What the runs over capacity saw, a sentence each."""


def open_levels(analysis: Analysis) -> tuple[OpenLevels, ...]:
    """One table for each workload with an open load, rates as the study orders them."""
    baselines = {
        (compared.deployment, compared.workload, compared.level): compared.baseline
        for compared in analysis.comparisons
    }
    over = {_place(each) for each in analysis.open_levels if each.over_capacity}
    return tuple(
        OpenLevels(
            title=f"Workload {terms.plain(workload)}",
            rows=tuple((each, _latencies(each, over, baselines)) for each in found),
            over=any(each.over_capacity for each in found),
            why=tuple(_why(found)),
        )
        for workload, found in grouped(analysis.open_levels, lambda each: each.workload).items()
    )


def _latencies(level: OpenLevel, over: Collection[Place], baselines: Mapping[Place, str]) -> str:
    place = _place(level)
    if place in over:
        return "not compared"
    baseline = baselines.get(place)
    if baseline is not None and (baseline, level.workload, level.level) in over:
        return f"not compared: {terms.plain(baseline)} was over capacity"
    return "compared"


def _why(levels: Sequence[OpenLevel]) -> Iterator[str]:
    for each in levels:
        if each.growth is not None and each.lag is not None and each.growth > 0:
            yield (
                f"{terms.plain(each.deployment)}, {terms.level(each.level)}: the backlog grew by "
                f"{duration(each.growth)} in each second. After {duration(each.seconds)} the "
                f"answers were {duration(each.lag)} late; twice the time would give about twice "
                "as much."
            )


def _place(level: OpenLevel) -> Place:
    return level.deployment, level.workload, level.level
