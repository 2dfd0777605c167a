"""What a result took besides measuring, and how restless its runs were: for planning the next."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from statistics import fmean, median, variance

import numpy as np

from dunnage.analysis.groups import grouped
from dunnage.analysis.order import Placed, design, residuals
from dunnage.analysis.schedule import measured
from dunnage.analysis.values import values
from dunnage.model.check import Status
from dunnage.model.plan import Plan
from dunnage.model.record import Record, StayRecord, Window
from dunnage.model.remembered import Pace
from dunnage.model.study import Study

APART = 0.6
"""Seconds of a group of windows: throughput was seen to forget itself within half of that."""
_LEAST_GROUPS = 3


def paces(
    study: Study, plan: Plan, records: Sequence[Record], stays: Sequence[StayRecord]
) -> tuple[Pace, ...]:
    """One for each platform and database whose stays and runs tell it.

    Searches tell nothing, nor does load in turns, where stays live at once.
    """
    usable = [
        record
        for record in records
        if record.measurement is not None and record.search is None and not record.turns
    ]
    spread, within = _noise(usable)
    if spread is None:
        return ()
    kinds = {each.name: (each.platform, each.database.kind) for each in plan.deployments}
    found = []
    for platform, database in dict.fromkeys(kinds.values()):
        names = {name for name, kind in kinds.items() if kind == (platform, database)}
        own = [record for record in usable if record.deployment in names]
        between = list(_between(study, usable, stays, names))
        if own and between:
            found.append(
                Pace(
                    platform=platform,
                    database=database,
                    stay=median(between),
                    around=median(map(_around, own, [study.load.warmup] * len(own))),
                    records=max(record.workload.records for record in own),
                    measured=median(_seconds(record) for record in own),
                    spread=spread,
                    within=within,
                )
            )
    return tuple(found)


def _seconds(record: Record) -> float:
    return record.measurement.seconds if record.measurement else 0.0


def _around(record: Record, warmup: float) -> float:
    return max(0.0, record.ended - record.started - _seconds(record) - warmup)


def _between(
    study: Study, records: Sequence[Record], stays: Sequence[StayRecord], names: set[str]
) -> Iterator[float]:
    """Seconds from the start of a stay to that of the next one, less its runs and conditioning."""
    for stay, following in pairwise(sorted(stays, key=lambda stay: stay.started)):
        runs = [record for record in records if record.stay == stay.stay]
        if stay.deployment in names and runs and following.block - stay.block in (0, 1):
            spent = sum(record.ended - record.started for record in runs)
            again = sum(each.ended - each.started for r in runs for each in r.earlier)
            left = following.started - stay.started - spent - again - study.load.conditioning
            yield max(0.0, left)


def _noise(records: Iterable[Record]) -> tuple[float | None, float]:
    """Spread of log throughput beside deployment and block, and how much of it is within runs."""
    usable = [
        record
        for record in records
        if record.status is Status.VALID and values(record).get("throughput", 0.0) > 0
    ]
    settings = grouped(usable, lambda record: (record.workload.name, record.level.name))
    variances, inside = [], []
    for found in settings.values():
        runs = [Placed(r.position, r.block, r.deployment, values(r)["throughput"]) for r in found]
        effects = design(runs, blocks=True)
        freedom = len(runs) - int(np.linalg.matrix_rank(effects))
        if freedom >= 1:
            left = residuals(effects, np.log([run.value for run in runs]))
            variances.append(float((left**2).sum()) / freedom)
            told = [v for r in found if r.measurement and (v := _inside(r.measurement.windows))]
            inside += [median(told)] if told else []
    if not variances or fmean(variances) <= 0:
        return None, 0.0
    share = fmean(inside) / fmean(variances) if inside else 0.0
    return math.sqrt(fmean(variances)), min(1.0, share)


def _inside(windows: Sequence[Window]) -> float | None:
    """Variance of a run's log throughput that its own windows explain."""
    line = measured(windows)
    if not line:
        return None
    together = max(1, round(APART / median(window.length for window in line)))
    groups = [line[at : at + together] for at in range(0, len(line) - together + 1, together)]
    rates = [sum(w.operations for w in g) / sum(w.length for w in g) for g in groups]
    if len(rates) < _LEAST_GROUPS or fmean(rates) <= 0:
        return None
    return variance(rates) / fmean(rates) ** 2 / len(rates)
