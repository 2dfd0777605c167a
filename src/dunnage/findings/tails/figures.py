"""Latency by quantile on an axis of what lies beyond it, and how deployments differ there."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from dunnage.drawing.plot import Curve, Mark, Plot, apart, height, path, ticks
from dunnage.drawing.scale import Scale, linear, logarithmic
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
"""The marks of the axis."""
_LEFT = 0.25
"""Where the axis begins: before the fastest quarter nothing is told apart."""
_DODGE = 0.9
_APART = 9.0
"""Percent between the marks of the axis, so that they do not touch on a phone."""


@dataclass(frozen=True)
class Tail:
    """One condition and kind of latency: the figure and the table behind it."""

    plot: Plot
    columns: tuple[str, ...]
    rows: tuple[tuple[str, tuple[str, ...]], ...]


@dataclass(frozen=True)
class Shift:
    """Differences from one baseline along the quantiles of one condition."""

    plot: Plot
    baseline: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, tuple[str, ...]], ...]
    left_out: tuple[str, ...]


def tails(analysis: Analysis) -> tuple[Tail, ...]:
    """The merged distributions, one figure for each condition and kind."""
    groups: dict[tuple[str, str, str], list[LatencyCurve]] = {}
    for curve in analysis.curves:
        if inside(curve):
            groups.setdefault((curve.workload, curve.level, curve.kind), []).append(curve)
    return tuple(
        _tail(terms.condition(workload, level), kind, curves)
        for (workload, level, kind), curves in groups.items()
    )


def shifts(analysis: Analysis) -> tuple[Shift, ...]:
    """Differences of quantiles, one figure for each condition, kind and baseline."""
    groups: dict[tuple[str, str, str, str], list[LatencyDifference]] = {}
    for found in analysis.latency:
        if found.quantiles:
            key = (found.workload, found.level, found.kind, found.baseline)
            groups.setdefault(key, []).append(found)
    return tuple(_shift(*key, found) for key, found in groups.items())


def inside(curve: LatencyCurve) -> list[tuple[float, float]]:
    """The points of a curve from the middle outwards, less the maximum, which has no quantile."""
    return sorted(point for point in curve.points if _LEFT <= point[0] < 1)


def deepest(reached: Sequence[float]) -> float:
    """The last quantile of the axis: the deepest that any curve has."""
    return min(max((*reached, 0.9)), QUANTILES["p99.99"])


def depth(quantile: float, last: float) -> float:
    """Place of a quantile in percent, by the logarithm of what lies beyond it."""
    first = math.log10(1 - _LEFT)
    span = math.log10(1 - last) - first
    return 100 * (math.log10(1 - min(max(quantile, _LEFT), last)) - first) / span


def marks_of(last: float) -> list[tuple[str, float]]:
    """Names and quantiles that the axis shows."""
    return [(name, share) for name, share in QUANTILES.items() if share <= last * 1.0000001]


def at_quantile(curve: LatencyCurve, share: float) -> float | None:
    """Seconds at a quantile; None where too few operations lie beyond it."""
    return next((s for q, s in sorted(curve.points) if share - 1e-9 <= q < 1), None)


def _tail(title: str, kind: str, curves: Sequence[LatencyCurve]) -> Tail:
    last = deepest([inside(curve)[-1][0] for curve in curves])
    shown = {
        curve.deployment: [(q, s) for q, s in inside(curve) if q <= last * 1.0000001]
        for curve in curves
    }
    y = logarithmic([s * 1e3 for points in shown.values() for _, s in points])
    slowest = any(curve.maximum is not None for curve in curves)
    plot = Plot(
        title=title,
        unit=f"{kind} time, ms",
        label=f"{kind} time by quantile, {title}; the table below has the numbers",
        x=apart(((name, round(depth(share, last), 2)) for name, share in marks_of(last)), _APART),
        x_title="faster than this share of operations →",
        y=ticks(y, lambda value: f"{value:g}"),
        curves=tuple(
            Curve(
                terms.plain(curve.deployment),
                path((depth(q, last), height(y, s * 1e3)) for q, s in shown[curve.deployment]),
            )
            for curve in curves
        ),
    )
    return Tail(
        plot=plot,
        columns=(*QUANTILES, *(("slowest",) if slowest else ()), "operations"),
        rows=tuple(
            (
                terms.plain(curve.deployment),
                (
                    *(_time(at_quantile(curve, share)) for share in QUANTILES.values()),
                    *((_time(curve.maximum),) if slowest else ()),
                    f"{curve.count:,}",
                ),
            )
            for curve in curves
        ),
    )


def _shift(
    workload: str, level: str, kind: str, baseline: str, found: Sequence[LatencyDifference]
) -> Shift:
    title = terms.condition(workload, level)
    each = [quantile for difference in found for quantile in difference.quantiles]
    last = deepest([quantile.share for quantile in each])
    y = linear([0.0, *(end for quantile in each for end in _ends(quantile))], wanted=4)
    marks = [
        _mark(difference.deployment, quantile, number - (len(found) - 1) / 2, last, y)
        for number, difference in enumerate(found)
        for quantile in difference.quantiles
    ]
    names = _ordered(each)
    return Shift(
        plot=Plot(
            title=title,
            unit=f"{kind} time, difference from {terms.plain(baseline)}",
            label=f"Difference in {kind} time by quantile, {title}; numbers in the table below",
            x=apart(
                ((name, round(_within(depth(share, last)), 2)) for name, share in marks_of(last)),
                _APART,
            ),
            x_title="faster than this share of operations →",
            y=ticks(y, numbers.tick),
            marks=tuple(marks),
            zero=height(y, 0.0),
        ),
        baseline=terms.plain(baseline),
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


def _mark(
    deployment: str, quantile: QuantileDifference, place: float, last: float, y: Scale
) -> Mark:
    difference = quantile.difference
    return Mark(
        series=terms.plain(deployment),
        x=round(_within(depth(quantile.share, last)) + place * _DODGE, 2),
        y=height(y, difference.value),
        low=None if difference.low is None else height(y, difference.low),
        high=None if difference.high is None else height(y, difference.high),
        text=f"{terms.plain(deployment)}, {quantile.quantile}: {numbers.seen(difference)}, "
        f"{numbers.interval(difference.low, difference.high)}",
    )


def _within(place: float) -> float:
    """Leave room at both ends for points that stand beside their mark."""
    return 3 + 0.94 * place


def _ordered(quantiles: Sequence[QuantileDifference]) -> list[str]:
    shares = {quantile.quantile: quantile.share for quantile in quantiles}
    return sorted(shares, key=lambda name: shares[name])


def _ends(quantile: QuantileDifference) -> list[float]:
    difference = quantile.difference
    ends = (difference.value, difference.low, difference.high)
    return [end for end in ends if end is not None]


def _cell(difference: LatencyDifference, name: str) -> str:
    for quantile in difference.quantiles:
        if quantile.quantile == name:
            found = quantile.difference
            return f"{numbers.seen(found)} ({numbers.interval(found.low, found.high)})"
    return "too few operations" if name in difference.left_out else "-"


def _time(seconds: float | None) -> str:
    return "-" if seconds is None else numbers.bare("service.p95", seconds)
