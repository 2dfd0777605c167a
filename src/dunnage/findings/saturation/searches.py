"""Searches for saturation: every probe, what was offered and what came of it, and what was found.

Sustained probes are filled and refused ones hollow; the rate found is a line with its interval.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from dunnage.analysis.groups import grouped
from dunnage.analysis.schedule import KEPT
from dunnage.drawing.figure import Axis, Band, Figure, Line, Point, Tabled
from dunnage.drawing.scale import Scale, linear, logarithmic, wide
from dunnage.findings.saturation.sentences import refused
from dunnage.model.analysis import Analysis
from dunnage.model.metrics import METRICS
from dunnage.model.open_load import SaturationSearch, SearchProbe
from dunnage.units import percent
from dunnage.wording import numbers, terms

LATENCY = "response.p99"
"""What a probe tells of its response times."""
COLUMNS = ("Rate found, op/s", "Interval", "Blocks", "Probes sustained", "Probes refused")
_ROOM = 28.0
"""Rates are long words, and phones are narrow."""


@dataclass(frozen=True)
class Searches(Tabled):
    """All searches of one workload; the table tells what each deployment's found."""

    title: str
    rule: str
    """What a probe had to keep to, as a sentence."""
    figures: tuple[Figure, ...]
    probes: tuple[tuple[str, SearchProbe, str], ...]
    """Deployment, a probe of it, and what came of that."""
    limited: bool
    """Whether a line in the figure stands for the objective of its response times."""


def searches(analysis: Analysis) -> tuple[Searches, ...]:
    """One figure for each workload whose saturation was searched for."""
    made = [found for found in analysis.searches if found.probes]
    by_workload = grouped(made, lambda found: found.workload)
    return tuple(_searches(workload, found) for workload, found in by_workload.items())


def _searches(workload: str, found: Sequence[SaturationSearch]) -> Searches:
    title = f"Workload {terms.plain(workload)}"
    figures = (_answered(title, found), _latency(title, found))
    return Searches(
        title=title,
        rule=_rule(found[0].precision, found[0].objective),
        figures=tuple(figure for figure in figures if figure.points),
        columns=COLUMNS,
        rows=tuple((terms.plain(each.deployment), _found(each)) for each in found),
        probes=tuple(
            (terms.plain(each.deployment), probe, _verdict(probe))
            for each in found
            for probe in each.probes
        ),
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
        f"{besides}. The rate that a search found is at most {percent(precision)} below a rate "
        "that was refused twice."
    )


def _answered(title: str, found: Sequence[SaturationSearch]) -> Figure:
    """Offered against answered rates, with the line on which all is answered."""
    x = _offered(found)
    answered = [probe.achieved for each in found for probe in each.probes]
    y = Axis("answered rate, op/s", _scale(answered, like=x.scale), _rate)
    low, high = max(x.scale.low, y.scale.low), min(x.scale.high, y.scale.high)
    all_answered = [(low, low), (high, high)] if low < high else []
    return _figure(title, found, x, y, lambda probe: probe.achieved, all_answered)


def _latency(title: str, found: Sequence[SaturationSearch]) -> Figure:
    """Response times over offered rates, with the objective if there is one."""
    x, metric, limit = _offered(found), METRICS[LATENCY], found[0].objective.get(LATENCY)
    times = [probe.p99 for each in found for probe in each.probes if probe.p99 is not None]
    ends = times if limit is None else [limit, *times]
    y = Axis(
        f"{terms.phrase(LATENCY)}, {metric.unit}",
        _scale(ends),
        lambda seconds: f"{seconds * metric.scale:,g}",
    )
    level = [] if limit is None else [(x.scale.low, limit), (x.scale.high, limit)]
    return _figure(title, found, x, y, lambda probe: probe.p99, level)


def _figure(
    title: str,
    found: Sequence[SaturationSearch],
    x: Axis,
    y: Axis,
    value: Callable[[SearchProbe], float | None],
    bound: Sequence[tuple[float, float]],
) -> Figure:
    low, high = y.scale.low, y.scale.high
    rates = [(terms.plain(each.deployment), each.found) for each in found if each.found is not None]
    return Figure(
        title=title,
        label=f"{y.title} over the offered rate, every probe, {title}; the table below has the "
        "numbers",
        x=x,
        y=y,
        lines=(
            *([Line("", tuple(bound), fitted=True)] if bound else []),
            *(Line(name, ((rate.value, high), (rate.value, low))) for name, rate in rates),
        ),
        bands=tuple(
            Band(name, ((rate.low, low, high), (rate.high, low, high)))
            for name, rate in rates
            if rate.low is not None and rate.high is not None
        ),
        points=tuple(
            Point(
                terms.plain(each.deployment),
                probe.offered,
                seen,
                _told(each, probe),
                hollow=not probe.sustained,
            )
            for each in found
            for probe in each.probes
            if (seen := value(probe)) is not None
        ),
    )


def _offered(found: Sequence[SaturationSearch]) -> Axis:
    rates = [probe.offered for each in found for probe in each.probes]
    return Axis("offered rate, op/s", _scale(rates), _rate, _ROOM)


def _scale(values: Sequence[float], like: Scale | None = None) -> Scale:
    """From 0, or logarithmic where values lie far apart or `like` is."""
    far = wide(values) if like is None else like.spacing is math.log
    return logarithmic(values) if far else linear([0.0, *values])


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
