"""Means over blocks, latency curves and where the CPU time of an operation goes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from dunnage.model.analysis import Analysis, LatencyCurve, Share, Summary
from dunnage.model.metrics import METRICS
from dunnage.report.tables.column import Column, Shown, count, number, text
from dunnage.report.tables.table import Table, picked

_PLACE: Sequence[Column[Summary | Share | LatencyCurve]] = (
    text("deployment", lambda found: found.deployment),
    text("workload", lambda found: found.workload),
    text("level", lambda found: found.level),
)
_SUMMARIES: Sequence[Column[Summary]] = (
    *_PLACE,
    text("metric", lambda found: found.metric),
    number("value", lambda found: found.estimate.value),
    number("low", lambda found: found.estimate.low),
    number("high", lambda found: found.estimate.high),
    count("blocks", lambda found: found.estimate.n),
    text("unit", lambda found: found.estimate.unit),
    text("method", lambda found: found.estimate.method),
)
_FIRST = ("deployment", "workload", "level", "metric", "value", "low", "high", "unit", "blocks")


def summaries(analysis: Analysis) -> Table[Summary]:
    """Means over blocks in the metric's SI unit, which stands beside them."""
    return Table("summaries", "Means over blocks", _SUMMARIES, analysis.summaries)


def shown_summaries(analysis: Analysis) -> Table[Summary]:
    """The same in the unit in which people read the metric."""
    columns = picked(_SUMMARIES, (*_FIRST, "method"))
    rows = [_in_shown_unit(found) for found in analysis.summaries]
    return Table("summaries", "Means over blocks", columns, rows)


def _in_shown_unit(found: Summary) -> Summary:
    metric, held = METRICS[found.metric], found.estimate
    ends = {"value": held.value, "low": held.low, "high": held.high}
    scaled = {key: None if end is None else end * metric.scale for key, end in ends.items()}
    estimate = held.model_copy(update={**scaled, "unit": metric.unit})
    return found.model_copy(update={"estimate": estimate})


class _Point(NamedTuple):
    curve: LatencyCurve
    quantile: float
    seconds: float


_POINTS: Sequence[Column[_Point]] = (
    text("deployment", lambda point: point.curve.deployment),
    text("workload", lambda point: point.curve.workload),
    text("level", lambda point: point.curve.level),
    text("kind", lambda point: point.curve.kind),
    number("quantile", lambda point: point.quantile, unit="share"),
    number("latency", lambda point: point.seconds, unit="s", shown=Shown("ms", 1e3)),
    count("operations", lambda point: point.curve.count),
)


def latency_curves(analysis: Analysis) -> Table[_Point]:
    """A row for each point of each curve."""
    rows = [_Point(curve, *point) for curve in analysis.curves for point in curve.points]
    return Table("latency-curves", "Latency distributions", _POINTS, rows)


def _cpu(name: str, of: Callable[[Share], float | None]) -> Column[Share]:
    return number(name, of, unit="s/op", shown=Shown("µs/op", 1e6))


_SHARES: Sequence[Column[Share]] = (
    *_PLACE,
    text("part", lambda part: part.part),
    _cpu("CPU", lambda part: part.seconds_per_operation),
    _cpu("low", lambda part: part.estimate.low if part.estimate else None),
    _cpu("high", lambda part: part.estimate.high if part.estimate else None),
    _cpu("difference", lambda part: part.difference.value if part.difference else None),
    _cpu("difference low", lambda part: part.difference.low if part.difference else None),
    _cpu("difference high", lambda part: part.difference.high if part.difference else None),
)


def cpu(analysis: Analysis) -> Table[Share]:
    """A row for each part of a deployment's CPU time."""
    return Table("cpu", "Where the CPU time of an operation goes", _SHARES, analysis.shares)
