"""Loads that can be measured and are probably not meant: told before a study starts."""

from __future__ import annotations

import math
from collections.abc import Iterator

from dunnage.model.choices import Phase
from dunnage.model.level import SHORTEST
from dunnage.model.load import WINDOW
from dunnage.model.study import Study
from dunnage.study.grammar import Finding
from dunnage.units import duration

SLOW = 0.01
"""Seconds in which the databases that are measured here answer an operation."""


def doubts(study: Study) -> Iterator[Finding]:
    """Yield what is odd about a load that no rule refuses, with what to write instead."""
    if any(workload.phase is Phase.RUN for workload in study.workloads):
        yield from _warmup(study)
        yield from _operations(study)
        yield from _rates(study)
        yield from _records(study)


def _warmup(study: Study) -> Iterator[Finding]:
    load = study.load
    if load.duration is not None and load.warmup > load.duration:
        yield Finding(
            ("load", "warmup"),
            f"the warm-up of every run ({duration(load.warmup)}) is longer than what is measured "
            f"({duration(load.duration)})",
            "write a longer `duration`; or warm each stay up once: "
            f"`conditioning: {load.warmup:g}s`, with `warmup: 1s`",
        )


def _operations(study: Study) -> Iterator[Finding]:
    load, most = study.load, max(study.load.threads, default=0)
    if load.operations is None or not most:
        return
    each = SHORTEST * most / load.operations
    if each > SLOW:
        yield Finding(
            ("load", "operations"),
            f"a run is valid from {duration(SHORTEST)} on; so long {load.operations:,} operations "
            f"of {most} threads last only if each takes {duration(each)}",
            f"write for example `operations: {1000 * most}`, or `duration: 10s`",
        )


def _rates(study: Study) -> Iterator[Finding]:
    for index, rate in enumerate(study.load.rate):
        if rate.number is not None and rate.number * WINDOW < 1:
            yield Finding(
                ("load", "rate", index),
                f"{rate.number:g} op/s leave windows of {duration(WINDOW)} without an operation: "
                "a stall of the database is hardly seen",
                f"write at least `rate: [{math.ceil(1 / WINDOW)}]`",
            )


def _records(study: Study) -> Iterator[Finding]:
    load = study.load
    in_flight = max((*load.threads, load.connections if load.rate or load.search else 0))
    for index, workload in enumerate(study.workloads):
        records = workload.records or study.records
        if workload.phase is Phase.RUN and records < in_flight:
            yield Finding(
                ("workloads", index, "records") if workload.records else ("records",),
                f"{in_flight} operations in flight on {records} records wait for one another at "
                "the same record",
                f"write for example `records: {1000 * in_flight}`",
            )
