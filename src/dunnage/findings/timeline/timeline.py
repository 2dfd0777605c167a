"""Time lines: what load and hosts did while the valid runs of one setting went on."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from itertools import product
from statistics import median

import numpy as np
from hdrh.histogram import HdrHistogram

from dunnage.analysis.gather import Gathered
from dunnage.analysis.runs import Setting
from dunnage.analysis.values import clients_clock
from dunnage.findings.timeline.series import RESOURCES, Floats, over_runs, resource
from dunnage.model.explanation import TimeLine, TimeSeries
from dunnage.model.histogram import MINIMUM_BEYOND, empty, intervals, seconds_at
from dunnage.model.load import Samples
from dunnage.model.metrics import KINDS
from dunnage.model.plan import Plan
from dunnage.model.record import Record, Window

MOST = 60
"""Intervals of a time line at most: neighbouring windows are joined."""
_ORDER = ("throughput", "response.p95", "service.p95", *RESOURCES)
_QUANTILE = 0.95
_WHOLE = 0.999
"""Share of an interval that windows must cover for its throughput to be known."""


def timelines(
    plan: Plan,
    gathered: Gathered,
    logs: Callable[[str], bytes | None],
    samples: Callable[[str], Iterable[Samples]],
) -> tuple[TimeLine, ...]:
    """Of every deployment and setting that has a valid run, but for runs in turns."""
    lines = []
    for deployment, setting in product(plan.deployments, gathered.settings):
        records = gathered.valid_records(deployment.name, setting)
        calm = [record for record in records if not record.turns]
        lines.append(timeline(deployment.name, setting, calm, logs, samples))
    return tuple(filter(None, lines))


def timeline(
    deployment: str,
    setting: Setting,
    records: Sequence[Record],
    logs: Callable[[str], bytes | None],
    samples: Callable[[str], Iterable[Samples]],
) -> TimeLine | None:
    """Put the runs on one axis, 0 where the measured window began; None without any window."""
    runs = [record for record in records if record.measurement and record.measurement.windows]
    if not runs:
        return None
    step, edges = _axis([record.measurement.windows for record in runs if record.measurement])
    lines: dict[str, list[Floats]] = {}
    absent: dict[str, str] = {}
    for record in runs:
        for name, line in _of_run(record, edges, logs, samples, absent).items():
            lines.setdefault(name, []).append(line)
    series = []
    for name in sorted(lines, key=_ORDER.index):
        mid, low, high = over_runs(lines[name])
        if any(value is not None for value in mid):
            series.append(TimeSeries(name=name, unit=_unit(name), median=mid, low=low, high=high))
        else:
            absent.setdefault(name, _SHORT if name.endswith("p95") else "samples cover no interval")
    return TimeLine(
        deployment=deployment,
        workload=setting.workload,
        level=setting.level,
        step=step,
        starts=tuple(round(start, 6) for start in edges[:-1].tolist()),
        runs=len(runs),
        series=tuple(series),
        absent=dict(sorted(absent.items())),
    )


_SHORT = "too few operations in an interval: ten must lie beyond the quantile"


def _axis(lines: Sequence[Sequence[Window]]) -> tuple[float, Floats]:
    """(step, edges): whole numbers of windows, with an edge at 0."""
    windows = [window for line in lines for window in line]
    usual = median(window.length for window in windows)
    first = min(window.start for window in windows)
    last = max(window.start + window.length for window in windows)
    step = usual * max(1, math.ceil((last - first) / usual / MOST))
    before = max(0, math.floor(-first / step + 1e-6))
    after = max(1, math.floor(last / step + 1e-6))
    return step, np.arange(-before, after + 1, dtype=np.float64) * float(step)


def _of_run(
    record: Record,
    edges: Floats,
    logs: Callable[[str], bytes | None],
    samples: Callable[[str], Iterable[Samples]],
    absent: dict[str, str],
) -> dict[str, Floats]:
    """Every series of one run; what is not known goes to `absent` with the reason."""
    measurement = record.measurement
    assert measurement is not None  # noqa: S101 - only runs with windows come here
    found = {"throughput": _throughput(measurement.windows, edges)}
    log = logs(record.run)
    if log is None:
        absent.setdefault("service.p95", "some run has no latency log")
    else:
        found |= _latency(log, measurement.began, edges)
    usage = {host.host: host for host in record.usage}
    seen = [(each, usage[each.host]) for each in samples(record.run) if each.host in usage]
    began = measurement.began - clients_clock(record.usage)
    for name in RESOURCES:
        line = resource(name, seen, began + edges)
        if isinstance(line, str):
            absent.setdefault(name, line)
        else:
            found[name] = line
    return found


def _throughput(windows: Sequence[Window], edges: Floats) -> Floats:
    """Operations per second, NaN where windows do not cover an interval."""
    middles = [window.start + window.length / 2 for window in windows]
    operations = np.histogram(middles, edges, weights=[w.operations for w in windows])[0]
    covered = np.histogram(middles, edges, weights=[w.length for w in windows])[0]
    length = np.diff(edges)
    return np.where(covered >= _WHOLE * length, operations / length, np.nan)


def _latency(log: bytes, began: float, edges: Floats) -> dict[str, Floats]:
    """95th percentile in each interval, from histograms added over operation types."""
    sums: dict[str, dict[int, HdrHistogram]] = {}
    step = edges[1] - edges[0]
    for interval in intervals(log):
        place = math.floor((interval.start - began - edges[0]) / step + 1e-3)
        if interval.kind in KINDS and 0 <= place < len(edges) - 1:
            total = sums.setdefault(interval.kind, {}).setdefault(place, empty())
            total.decode_and_add(interval.encoded)
    kind = "response" if "response" in sums else "service"
    line = np.full(len(edges) - 1, np.nan)
    for place, total in sums.get(kind, {}).items():
        if total.get_total_count() * (1 - _QUANTILE) >= MINIMUM_BEYOND - 1e-6:
            line[place] = seconds_at(total, [_QUANTILE])[0]
    return {f"{kind}.p95": line}


def _unit(name: str) -> str:
    if name == "throughput":
        return "op/s"
    return RESOURCES[name][1] if name in RESOURCES else "s"
