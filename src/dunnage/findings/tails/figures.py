"""Latency by quantile on an axis of what lies beyond it, and how deployments differ there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from dunnage.analysis.groups import grouped
from dunnage.drawing.figure import Axis, Figure, Line, Point, Tabled
from dunnage.drawing.scale import Scale, beyond, linear, logarithmic
from dunnage.model.analysis import Analysis, LatencyCurve
from dunnage.model.explanation import LatencyDifference, QuantileDifference
from dunnage.wording import numbers, terms

QUANTILES: Mapping[str, float] = {
    "p50": 0.5,
    "p90": 0.9,
    "p95": 0.95,
    "p99": 0.99,
    "p99.9": 0.999,
    "p99.99": 0.9999,
}
"""The ticks of the axis."""
_NAMES = {share: name for name, share in QUANTILES.items()}
_LEFT = 0.25
"""Where the axis begins: before the fastest quarter nothing is told apart."""


@dataclass(frozen=True)
class Tail(Tabled):
    """A figure along the quantiles of one condition."""

    figure: Figure
    left_out: tuple[str, ...] = ()


def tails(analysis: Analysis) -> tuple[Tail, ...]:
    """The merged distributions, one figure for each condition and kind."""
    shown = filter(_inside, analysis.curves)
    groups = grouped(shown, lambda curve: (curve.workload, curve.level, curve.kind))
    return tuple(_tail(*key, curves) for key, curves in groups.items())


def shifts(analysis: Analysis) -> tuple[Tail, ...]:
    """Differences of quantiles, one figure for each condition, kind and baseline."""
    known = [found for found in analysis.latency if found.quantiles]
    groups = grouped(known, lambda found: (found.workload, found.level, found.kind, found.baseline))
    return tuple(_shift(*key, found) for key, found in groups.items())


def _inside(curve: LatencyCurve) -> list[tuple[float, float]]:
    """The points of a curve from the middle outwards, less the maximum, which has no quantile."""
    return sorted(point for point in curve.points if _LEFT <= point[0] < 1)


def _axis(reached: Sequence[float], margin: float = 0.0) -> Axis:
    """From the fastest quarter to the deepest quantile that any curve has."""
    last = min(max((*reached, 0.9)), QUANTILES["p99.99"])
    ticks = tuple(share for share in QUANTILES.values() if share <= last * 1.0000001)
    return Axis(
        "faster than this share of operations →",
        Scale(_LEFT, last, ticks, beyond, margin),
        _NAMES.__getitem__,
        room=9.0,
    )


def _tail(workload: str, level: str, kind: str, curves: Sequence[LatencyCurve]) -> Tail:
    title = terms.condition(workload, level)
    x = _axis([_inside(curve)[-1][0] for curve in curves])
    lines = tuple(
        Line(
            terms.plain(curve.deployment),
            tuple((q, s * 1e3) for q, s in _inside(curve) if q <= x.scale.high * 1.0000001),
        )
        for curve in curves
    )
    times = [place[1] for line in lines for place in line.places if place is not None]
    slowest = any(curve.maximum is not None for curve in curves)
    return Tail(
        figure=Figure(
            title=title,
            label=f"{kind} time by quantile, {title}; the table below has the numbers",
            x=x,
            y=Axis(f"{kind} time, ms", logarithmic(times), lambda value: f"{value:g}"),
            lines=lines,
            name=f"latency-{kind}-{workload}-{level}",
        ),
        columns=(*QUANTILES, *(("slowest",) if slowest else ()), "operations"),
        rows=tuple(
            (
                terms.plain(curve.deployment),
                (
                    *(_time(_at_quantile(curve, share)) for share in QUANTILES.values()),
                    *((_time(curve.maximum),) if slowest else ()),
                    f"{curve.count:,}",
                ),
            )
            for curve in curves
        ),
    )


def _shift(
    workload: str, level: str, kind: str, baseline: str, found: Sequence[LatencyDifference]
) -> Tail:
    title = terms.condition(workload, level)
    each = [quantile for difference in found for quantile in difference.quantiles]
    shares = {quantile.quantile: quantile.share for quantile in each}
    names = sorted(shares, key=shares.__getitem__)
    points = tuple(
        _point(terms.plain(difference.deployment), quantile)
        for difference in found
        for quantile in difference.quantiles
    )
    return Tail(
        figure=Figure(
            title=title,
            label=f"Difference in {kind} time by quantile, {title}; numbers in the table below",
            x=_axis([quantile.share for quantile in each], margin=3.0),
            y=Axis(
                f"{kind} time, difference from {terms.plain(baseline)}",
                linear([0.0, *(end for point in points for end in point.ends)], wanted=4),
                numbers.tick,
            ),
            points=points,
            zero=True,
            dodge=0.9,
            name=f"tails-{kind}-{workload}-{level}-{baseline}",
        ),
        columns=tuple(names),
        rows=tuple(
            (terms.plain(difference.deployment), tuple(_cell(difference, name) for name in names))
            for difference in found
        ),
        left_out=terms.together(
            (terms.plain(difference.deployment), f"{name}: {terms.plain(reason)}")
            for difference in found
            for name, reason in difference.left_out.items()
        ),
    )


def _point(deployment: str, quantile: QuantileDifference) -> Point:
    difference = quantile.difference
    return Point(
        deployment,
        quantile.share,
        difference.value,
        f"{deployment}, {quantile.quantile}: {numbers.seen(difference)}, "
        f"{numbers.interval(difference)}",
        difference.low,
        difference.high,
    )


def _at_quantile(curve: LatencyCurve, share: float) -> float | None:
    """Seconds at a quantile; None where too few operations lie beyond it."""
    return next((s for q, s in sorted(curve.points) if share - 1e-9 <= q < 1), None)


def _cell(difference: LatencyDifference, name: str) -> str:
    for quantile in difference.quantiles:
        if quantile.quantile == name:
            found = quantile.difference
            return f"{numbers.seen(found)} ({numbers.interval(found)})"
    return "too few operations" if name in difference.left_out else "-"


def _time(seconds: float | None) -> str:
    return "-" if seconds is None else numbers.bare("service.p95", seconds)
