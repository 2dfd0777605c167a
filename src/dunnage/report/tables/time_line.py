"""Time lines of runs, for programs: what was answered when, and what samplers read."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from dunnage.analysis.values import clients_clock
from dunnage.model.analysis import RunSummary
from dunnage.model.load import Samples
from dunnage.model.record import Record, Usage, Window
from dunnage.report.tables.column import Column, count, number, text
from dunnage.report.tables.table import Table


class _Interval(NamedTuple):
    """A window of a run, with the run's status."""

    record: Record
    status: str
    window: Window


class _Reading(NamedTuple):
    """What a sampler read of a unit at a time."""

    record: Record
    status: str
    host: str
    unit: str
    time: float
    at: float | None
    counters: Mapping[str, float]


_PLACE: Sequence[Column[_Interval | _Reading]] = (
    text("run", lambda row: row.record.run),
    text("deployment", lambda row: row.record.deployment),
    text("workload", lambda row: row.record.workload.name),
    text("level", lambda row: row.record.level.name),
    count("block", lambda row: row.record.block),
    text("status", lambda row: row.status),
)
_WINDOW: Sequence[Column[_Interval]] = (
    number("start", lambda row: row.window.start, unit="s"),
    number("length", lambda row: row.window.length, unit="s"),
    count("operations", lambda row: row.window.operations),
    count("errors", lambda row: row.window.errors),
    number("throughput", lambda row: _rate(row.window), unit="op/s"),
)
_UNIT: Sequence[Column[_Reading]] = (
    text("host", lambda row: row.host),
    text("unit", lambda row: row.unit),
    number("time", lambda row: row.time, unit="s"),
    number("at", lambda row: row.at, unit="s"),
)


def windows(summaries: Sequence[RunSummary], records: Sequence[Record]) -> Table[_Interval]:
    """`start` is in seconds since the measured window began, negative in the warm-up."""
    rows = [
        _Interval(record, status, window)
        for record, status in _with_status(summaries, records)
        if record.measurement is not None
        for window in record.measurement.windows
    ]
    return Table("windows", "Time lines", (*_PLACE, *_WINDOW), rows)


def samples(
    summaries: Sequence[RunSummary],
    records: Sequence[Record],
    seen: Callable[[str], Iterable[Samples]],
) -> Table[_Reading]:
    """What samplers read, host by host. Counters are cumulative; memory and swap are as they stood.

    `unit` is empty for the whole host, else a member, `daemon…`, `generator` or `sampler`. Columns
    that begin with `machine.` belong to the whole machine and stand in the host's own rows.

    `time` is by the host's own clock, `at` from the beginning of the measured window by ours.
    """
    rows = [
        reading
        for record, status in _with_status(summaries, records)
        for host in seen(record.run)
        for reading in _readings(record, status, host)
    ]
    known = tuple(Usage.model_fields)
    others = {name for row in rows for name in row.counters} - set(known)
    names = (*known, *sorted(others, key=lambda name: (name.startswith("machine."), name)))
    return Table("samples", "Host resources", (*_PLACE, *_UNIT, *map(_counter, names)), rows)


def _with_status(
    summaries: Sequence[RunSummary], records: Sequence[Record]
) -> list[tuple[Record, str]]:
    status = {run.run: run.status for run in summaries}
    return [(each, status.get(each.run, each.status.value)) for each in records]


def _readings(record: Record, status: str, seen: Samples) -> Iterator[_Reading]:
    measurement = record.measurement
    began = None if measurement is None else measurement.began - clients_clock(record.usage)
    ahead = {host.host: host.clock_offset for host in record.usage}.get(seen.host, 0.0)
    for sample in seen.samples:
        at = None if began is None else sample.time - ahead - began
        machine = {f"machine.{name}": value for name, value in sample.machine.items()}
        for unit, counters in sample.units.items():
            found = {**counters, **({} if unit else machine)}
            yield _Reading(record, status, seen.host, unit, sample.time, at, found)


def _counter(name: str) -> Column[_Reading]:
    return number(name, lambda row: row.counters.get(name))


def _rate(window: Window) -> float | None:
    return window.operations / window.length if window.length > 0 else None
