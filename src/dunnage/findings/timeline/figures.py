"""Speed and resources of the runs of one condition, one above the other on one axis of time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from dunnage.analysis.groups import grouped
from dunnage.drawing.figure import Axis, Band, Figure, Line, Panels, Tabled
from dunnage.drawing.scale import Scale, linear
from dunnage.model.analysis import Analysis
from dunnage.model.explanation import TimeLine, TimeSeries
from dunnage.wording import numbers, terms
from dunnage.wording.quantity import Unit, unit

_TITLES: Mapping[str, str] = {
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


@dataclass(frozen=True)
class Times(Tabled):
    """All series of one condition, a panel each; the table is of the measured window."""

    panels: Panels
    absent: tuple[str, ...]


def times(analysis: Analysis) -> tuple[Times, ...]:
    """One figure for each workload and level that has a time line."""
    shown = [line for line in analysis.timelines if line.starts and any(map(_moves, line.series))]
    groups = grouped(shown, lambda line: (line.workload, line.level))
    return tuple(_times(*key, lines) for key, lines in groups.items())


def _times(workload: str, level: str, lines: Sequence[TimeLine]) -> Times:
    title = terms.condition(workload, level)
    there = {series.name for line in lines for series in line.series if _moves(series)}
    names = [name for name in (*_TITLES, *sorted(there - _TITLES.keys())) if name in there]
    found = {name: _series_of(lines, name) for name in names}
    units = {name: _unit(found[name]) for name in names}
    x = _seconds(lines)
    return Times(
        panels=Panels(
            f"time-{workload}-{level}",
            title,
            tuple(_panel(title, name, units[name], found[name], x) for name in names),
        ),
        columns=("Runs", *(f"{_title(name)}, {units[name].label}" for name in names)),
        rows=tuple(
            (
                terms.plain(line.deployment),
                (str(line.runs), *(_cell(line, name, units[name]) for name in names)),
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
    title: str, name: str, shown: Unit, found: Sequence[tuple[TimeLine, TimeSeries]], x: Axis
) -> Figure:
    ends = [
        value for _, series in found for value in (*series.low, *series.high) if value is not None
    ]
    lines, bands = [], []
    for line, series in found:
        deployment = terms.plain(line.deployment)
        at = [start + line.step / 2 for start in line.starts]
        middle, low, high = (
            [None if value is None else value / shown.size for value in values]
            for values in (series.median, series.low, series.high)
        )
        lines.append(Line.through(deployment, at, middle))
        if line.runs > 1:
            bands.append(Band.between(deployment, at, low, high))
    return Figure(
        title=_title(name),
        label=f"{_title(name)} over time, {title}; the table below has the numbers",
        x=x,
        y=Axis(
            shown.label,
            linear([0.0, *(end / shown.size for end in ends)], wanted=3),
            lambda value: f"{value:,g}",
        ),
        lines=tuple(lines),
        bands=tuple(bands),
        shaded=((x.scale.low, 0.0),) if x.scale.low < 0 else (),
    )


def _seconds(lines: Sequence[TimeLine]) -> Axis:
    """The axis of time: exactly as long as the runs, with round ticks."""
    begin = min(line.starts[0] for line in lines)
    end = max(line.starts[-1] + line.step for line in lines)
    rounded = linear([begin, end], wanted=6).ticks
    inside = tuple(tick for tick in rounded if begin - 1e-9 <= tick <= end + 1e-9)
    return Axis(
        "seconds since the measured window began",
        Scale(begin, end, inside),
        lambda seconds: f"{seconds:g}".replace("-", numbers.MINUS),
    )


def _series_of(lines: Sequence[TimeLine], name: str) -> list[tuple[TimeLine, TimeSeries]]:
    return [
        (line, series)
        for line in lines
        for series in line.series
        if series.name == name and _known(series)
    ]


def _unit(found: Sequence[tuple[TimeLine, TimeSeries]]) -> Unit:
    largest = max(value for _, series in found for value in series.high if value is not None)
    return unit(found[0][1].unit, largest)


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
    return _TITLES.get(name, terms.plain(name))


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
