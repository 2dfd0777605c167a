"""Searches for saturation: every probe, what was offered and what came of it, and what was found.

Sustained probes are filled and refused ones hollow; the rate found is a line with its interval.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from dunnage.analysis.schedule import KEPT
from dunnage.drawing.plot import Curve, Mark, Plot, apart, area, height, path, ticks
from dunnage.drawing.scale import WIDE, Scale, linear, logarithmic
from dunnage.model.analysis import Analysis
from dunnage.model.metrics import METRICS
from dunnage.model.open_load import SaturationSearch, SearchProbe
from dunnage.units import percent
from dunnage.wording import numbers, terms
from dunnage.wording.refusal import refused

LATENCY = "response.p99"
"""What a probe tells of its response times."""
COLUMNS = ("Rate found, op/s", "Interval", "Blocks", "Probes sustained", "Probes refused")
_APART = 28.0
"""Percent between texts of the horizontal axis: rates are long words, and phones are narrow."""


@dataclass(frozen=True)
class ProbeRow:
    """One probe in the table behind the figure."""

    deployment: str
    cells: tuple[str, ...]
    """Block, offered rate, answered rate, response time."""
    verdict: str
    sustained: bool


@dataclass(frozen=True)
class Searches:
    """All searches of one workload."""

    title: str
    rule: str
    """What a probe had to keep to, as a sentence."""
    plots: tuple[Plot, ...]
    deployments: tuple[str, ...]
    columns: tuple[str, ...]
    rows: tuple[tuple[str, tuple[str, ...]], ...]
    """(deployment, what was found)."""
    probes: tuple[ProbeRow, ...]
    limited: bool
    """Whether a line in the figure stands for the objective of its response times."""


def searches(analysis: Analysis) -> tuple[Searches, ...]:
    """One figure for each workload whose saturation was searched for."""
    by_workload: dict[str, list[SaturationSearch]] = {}
    for found in analysis.searches:
        if found.probes:
            by_workload.setdefault(found.workload, []).append(found)
    return tuple(_searches(workload, found) for workload, found in by_workload.items())


def _searches(workload: str, found: Sequence[SaturationSearch]) -> Searches:
    title = f"Workload {terms.plain(workload)}"
    plots = (_answered(title, found), _latency(title, found))
    return Searches(
        title=title,
        rule=_rule(found[0].precision, found[0].objective),
        plots=tuple(plot for plot in plots if plot.marks),
        deployments=tuple(terms.plain(each.deployment) for each in found),
        columns=COLUMNS,
        rows=tuple((terms.plain(each.deployment), _found(each)) for each in found),
        probes=tuple(_row(each, probe) for each in found for probe in each.probes),
        limited=LATENCY in found[0].objective,
    )


def _rule(precision: float, objective: Mapping[str, float]) -> str:
    kept = [
        f"{terms.phrase(name)} is at most {most * METRICS[name].scale:g} {METRICS[name].unit}"
        for name, most in objective.items()
    ]
    besides = f", and {terms.listed(kept)}" if kept else ""
    return (
        f"A rate is sustained where at least {percent(KEPT)} of it is answered and no backlog grows"
        f"{besides}. What a search found lies at most {percent(precision)} below a rate that "
        "was refused twice."
    )


def _answered(title: str, found: Sequence[SaturationSearch]) -> Plot:
    """Offered against answered rates, with the line on which all is answered."""
    every = [probe for each in found for probe in each.probes]
    x = _axis([probe.offered for probe in every])
    y = _axis([probe.achieved for probe in every], like=x)
    low, high = max(x.low, y.low), min(x.high, y.high)
    ends = [(x.at(rate), height(y, rate)) for rate in (low, high)] if low < high else []
    return _plot(
        title,
        "answered rate, op/s",
        found,
        (x, y),
        lambda probe: probe.achieved,
        _rate,
        (Curve("", path(ends), "fit"),),
    )


def _latency(title: str, found: Sequence[SaturationSearch]) -> Plot:
    """Response times over offered rates, with the objective if there is one."""
    every = [probe for each in found for probe in each.probes]
    x = _axis([probe.offered for probe in every])
    most = found[0].objective.get(LATENCY)
    limits = [] if most is None else [most]
    y = _axis([*limits, *(probe.p99 for probe in every if probe.p99 is not None)])
    ends = [(at, height(y, limit)) for limit in limits for at in (0.0, 100.0)]
    metric = METRICS[LATENCY]
    return _plot(
        title,
        f"{terms.phrase(LATENCY)}, {metric.unit}",
        found,
        (x, y),
        lambda probe: probe.p99,
        lambda seconds: f"{seconds * metric.scale:,g}",
        (Curve("", path(ends), "fit"),),
    )


def _plot(
    title: str,
    unit: str,
    found: Sequence[SaturationSearch],
    axes: tuple[Scale, Scale],
    value: Callable[[SearchProbe], float | None],
    text: Callable[[float], str],
    lines: tuple[Curve, ...],
) -> Plot:
    x, y = axes
    return Plot(
        title=title,
        unit=unit,
        label=f"{unit} over the offered rate, every probe, {title}; the table below has the "
        "numbers",
        x=apart([(_rate(tick.value), tick.at) for tick in x.ticks], _APART),
        x_title="offered rate, op/s",
        y=ticks(y, text),
        curves=(*(line for line in lines if line.path), *_at_rates(found, x)),
        bands=tuple(_intervals(found, x)),
        marks=tuple(
            Mark(
                series=terms.plain(each.deployment),
                x=round(x.at(probe.offered), 2),
                y=height(y, seen),
                low=None,
                high=None,
                text=_told(each, probe),
                hollow=not probe.sustained,
            )
            for each in found
            for probe in each.probes
            if (seen := value(probe)) is not None
        ),
    )


def _at_rates(found: Sequence[SaturationSearch], x: Scale) -> Iterator[Curve]:
    """An upright line at each rate that was found."""
    for each in found:
        if each.found is not None:
            at = x.at(each.found.value)
            yield Curve(terms.plain(each.deployment), path([(at, 0.0), (at, 100.0)]))


def _intervals(found: Sequence[SaturationSearch], x: Scale) -> Iterator[Curve]:
    """A band over the interval of each rate that was found."""
    for each in found:
        estimate = each.found
        if estimate is not None and estimate.low is not None and estimate.high is not None:
            ends = x.at(estimate.low), x.at(estimate.high)
            outline = area([(at, 0.0) for at in ends], [(at, 100.0) for at in ends])
            yield Curve(terms.plain(each.deployment), outline)


def _axis(values: Sequence[float], like: Scale | None = None) -> Scale:
    """From 0, or logarithmic where values lie far apart or `like` is."""
    positive = [value for value in values if value > 0]
    far = bool(positive) and max(positive) > WIDE * min(positive)
    wide = far if like is None else like.log
    return logarithmic(positive) if wide else linear([0.0, *values])


def _rate(value: float) -> str:
    return f"{value:,.10g}"


def _found(each: SaturationSearch) -> tuple[str, ...]:
    sustained = sum(probe.sustained for probe in each.probes)
    counts = (str(sustained), str(len(each.probes) - sustained))
    if each.found is None:
        return ("-", numbers.NO_INTERVAL, "0", *counts)
    return (
        numbers.bare("saturation", each.found.value),
        numbers.span("saturation", each.found),
        str(each.found.n),
        *counts,
    )


def _row(each: SaturationSearch, probe: SearchProbe) -> ProbeRow:
    return ProbeRow(
        deployment=terms.plain(each.deployment),
        cells=(
            str(probe.block),
            numbers.bare("offered", probe.offered),
            numbers.bare("offered", probe.achieved),
            "-" if probe.p99 is None else numbers.bare(LATENCY, probe.p99),
        ),
        verdict=_verdict(probe),
        sustained=probe.sustained,
    )


def _verdict(probe: SearchProbe) -> str:
    if probe.sustained:
        return "sustained"
    whose = ", by the client's limit" if probe.client else ""
    return f"refused{whose}: {refused(probe.refusals)}" if probe.refusals else f"refused{whose}"


def _told(each: SaturationSearch, probe: SearchProbe) -> str:
    late = "" if probe.p99 is None else f", p99 {numbers.value(LATENCY, probe.p99)}"
    return (
        f"{terms.plain(each.deployment)}, block {probe.block}: "
        f"{numbers.value('offered', probe.achieved)} of "
        f"{numbers.bare('offered', probe.offered)}{late}; {_verdict(probe)}"
    )
