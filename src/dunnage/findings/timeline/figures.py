"""Speed and resources of the runs of one condition, one above the other on one axis of time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from dunnage.drawing.plot import Curve, Plot, area, height, path, ticks
from dunnage.drawing.scale import Scale, linear
from dunnage.model.analysis import Analysis
from dunnage.model.explanation import TimeLine, TimeSeries
from dunnage.wording import numbers, terms
from dunnage.wording.quantity import Unit, unit

TITLES: Mapping[str, str] = {
    "throughput": "Throughput",
    "response.p95": "Response time, p95",
    "service.p95": "Service time, p95",
    "cpu.database": "Processors busy, database hosts",
    "cpu.client": "Processors busy, client",
    "network.database": "Network, database hosts",
    "disk.database": "Disk, database hosts",
    "memory.database": "Memory, database hosts",
}
"""Series in the order in which they stand below one another."""
MOST = 240
"""Places that a line has at most; more cannot be told apart on a screen."""


@dataclass(frozen=True)
class Row:
    """What one deployment did in the measured window, for the table behind the figure."""

    deployment: str
    runs: int
    cells: tuple[str, ...]


@dataclass(frozen=True)
class Times:
    """All series of one condition; the panels share their axis of time."""

    title: str
    panels: tuple[Plot, ...]
    columns: tuple[str, ...]
    rows: tuple[Row, ...]
    absent: tuple[str, ...]


def times(analysis: Analysis) -> tuple[Times, ...]:
    """One figure for each workload and level that has a time line."""
    groups: dict[tuple[str, str], list[TimeLine]] = {}
    for line in analysis.timelines:
        if line.starts and any(_moves(series) for series in line.series):
            groups.setdefault((line.workload, line.level), []).append(line)
    return tuple(_times(terms.condition(*key), lines) for key, lines in groups.items())


def series_of(lines: Sequence[TimeLine], name: str) -> list[tuple[TimeLine, TimeSeries]]:
    """The series called `name` of every line that has it."""
    return [
        (line, series)
        for line in lines
        for series in line.series
        if series.name == name and _known(series)
    ]


def names_of(lines: Sequence[TimeLine]) -> tuple[str, ...]:
    """All series in which anything happened in any line, speed first."""
    there = {series.name for line in lines for series in line.series if _moves(series)}
    order = list(TITLES)
    return tuple(sorted(there, key=lambda name: order.index(name) if name in order else len(order)))


def _times(title: str, lines: Sequence[TimeLine]) -> Times:
    begin = min(line.starts[0] for line in lines)
    end = max(line.starts[-1] + line.step for line in lines)
    x = _seconds(begin, end)
    names = names_of(lines)
    units = {name: _unit(series_of(lines, name)) for name in names}
    last = names[-1] if names else ""
    return Times(
        title=title,
        panels=tuple(
            _panel(title, name, units[name], series_of(lines, name), x, bare=name != last)
            for name in names
        ),
        columns=tuple(f"{_title(name)}, {units[name].label}" for name in names),
        rows=tuple(
            Row(
                terms.plain(line.deployment),
                line.runs,
                tuple(_cell(line, name, units[name]) for name in names),
            )
            for line in lines
        ),
        absent=terms.together(
            (terms.plain(line.deployment), f"{_title(name)}, {terms.plain(reason)}")
            for line in lines
            for name, reason in (*line.absent.items(), *_still(line, names))
        ),
    )


def _panel(
    title: str,
    name: str,
    shown: Unit,
    found: Sequence[tuple[TimeLine, TimeSeries]],
    x: Scale,
    *,
    bare: bool,
) -> Plot:
    ends = [
        value for _, series in found for value in (*series.low, *series.high) if value is not None
    ]
    y = linear([0.0, *(end / shown.size for end in ends)], wanted=3)
    curves, bands = [], []
    for line, series in found:
        deployment = terms.plain(line.deployment)
        at = [_middle(line, place) for place in range(len(line.starts))]
        middle, low, high = (
            [
                None if value is None else (x.at(moment), height(y, value / shown.size))
                for moment, value in zip(at, values, strict=True)
            ]
            for values in (series.median, series.low, series.high)
        )
        group = -(-len(at) // MOST)
        curves.append(Curve(deployment, path(middle[::group])))
        if line.runs > 1:
            bands.append(Curve(deployment, area(high[::group], low[::group])))
    warm = x.at(0.0) if x.low < 0 else 0.0
    return Plot(
        title=_title(name),
        unit=shown.label,
        label=f"{_title(name)} over time, {title}; the table below has the numbers",
        x=tuple(("" if bare else _moment(tick.value), tick.at) for tick in x.ticks),
        x_title="" if bare else "seconds since the measured window began",
        y=ticks(y, lambda value: f"{value:,g}"),
        curves=tuple(curves),
        bands=tuple(bands),
        shaded=(0.0, warm) if warm else None,
    )


def _seconds(begin: float, end: float) -> Scale:
    """The axis of time: exactly as long as the runs, with round marks."""
    rounded = linear([begin, end], wanted=6)
    bare = Scale(begin, end, ())
    inside = [tick for tick in rounded.ticks if begin - 1e-9 <= tick.value <= end + 1e-9]
    return Scale(begin, end, tuple(type(tick)(tick.value, bare.at(tick.value)) for tick in inside))


def _moment(seconds: float) -> str:
    return f"{seconds:g}".replace("-", numbers.MINUS)


def _middle(line: TimeLine, place: int) -> float:
    return line.starts[place] + line.step / 2


def _unit(found: Sequence[tuple[TimeLine, TimeSeries]]) -> Unit:
    held = found[0][1].unit
    largest = max(value for _, series in found for value in series.high if value is not None)
    return unit(held, largest)


def _cell(line: TimeLine, name: str, shown: Unit) -> str:
    """Median over the measured intervals, and between what ends any run moved."""
    series = next((series for series in line.series if series.name == name), None)
    if series is None:
        return "-"
    inside = [place for place, start in enumerate(line.starts) if start >= 0]
    middle, low, high = (
        [values[place] for place in inside if values[place] is not None]
        for values in (series.median, series.low, series.high)
    )
    if not middle:
        return "-"
    least = min(value for value in low if value is not None)
    most = max(value for value in high if value is not None)
    usual = median(value for value in middle if value is not None)
    return f"{shown.bare(usual)} ({shown.bare(least)} … {shown.bare(most)})"


def _title(name: str) -> str:
    return TITLES.get(name, terms.plain(name))


def _still(line: TimeLine, shown: Sequence[str]) -> list[tuple[str, str]]:
    """Series without a panel because nothing ever happened in them."""
    return [
        (series.name, "0 all the time")
        for series in line.series
        if series.name not in shown and _known(series)
    ]


def _moves(series: TimeSeries) -> bool:
    return any(value for value in (*series.median, *series.high))


def _known(series: TimeSeries) -> bool:
    return any(value is not None for value in series.median)
