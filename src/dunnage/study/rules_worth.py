"""Loads of which no run could be valid: they are refused before anything starts.

The study of a result is read without these rules: it was carried out, whatever came of it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from dunnage.errors import shown
from dunnage.model.choices import Phase
from dunnage.model.level import SHORTEST
from dunnage.model.load_spec import LoadSpec
from dunnage.model.study import CLIENT_GROUP, WorkloadSpec
from dunnage.study.document import Path
from dunnage.study.draft import Draft
from dunnage.study.enough import LEAST_OPERATIONS, LEAST_SECONDS, never_valid, operations_needed
from dunnage.study.grammar import Finding
from dunnage.study.matrix import shares
from dunnage.units import duration, percent

HIGHEST_RATE = 10_000_000.0
"""Operations per second. No client starts as many, and all that were never started are counted."""
LEAST_SHARE = 0.001
"""Of a capacity. What a smaller one leaves of any database is next to nothing."""
LEAST_TIMEOUT = 0.001
"""Seconds between two ticks of the generator's timers."""


def worth_rules(draft: Draft) -> Iterator[Finding]:
    """Yield what lets no run of a load be valid, where the file alone tells it."""
    load = draft.load
    if load is None:
        return
    running = any(workload.phase is Phase.RUN for workload in draft.workloads.values())
    yield from _clients(load, (draft.groups or {}).get(CLIENT_GROUP, 1))
    yield from _bounds(load)
    if running and load.turns is None:
        yield from _length(load)
        yield from _threads(load)
        yield from _rates(load)
    for index, workload in draft.workloads.items():
        if workload.phase is Phase.LOAD and not draft.touched("records"):
            yield from _loading(load, index, workload, workload.records or draft.records)


def _clients(load: LoadSpec, clients: int) -> Iterator[Finding]:
    """Each client makes a part of the load, and must have an operation of its own in flight."""
    in_flight: list[tuple[Path, int, str]] = [
        (("load", "threads", index), threads, f"threads: [{clients}]")
        for index, threads in enumerate(load.threads)
    ]
    if load.rate or load.search is not None:
        written = f"connections: {clients}"
        in_flight.append((("load", "connections"), load.connections, written))
    if shares(load) and load.calibration.threads is not None:
        written = f"threads: {clients}"
        in_flight.append((("load", "calibration", "threads"), load.calibration.threads, written))
    for place, number, written in in_flight:
        if number < clients:
            key = written.partition(":")[0]
            yield Finding(
                place,
                f"{clients} clients cannot share {number} `{key}`: each needs one",
                f"write at least `{written}`, or `{CLIENT_GROUP}: {number}`",
            )


def _bounds(load: LoadSpec) -> Iterator[Finding]:
    rates: list[tuple[Path, float | None]] = [
        (("load", "rate", index), rate.number) for index, rate in enumerate(load.rate)
    ]
    if load.search is not None:
        rates.append((("load", "search", "start"), load.search.start))
    for place, number in rates:
        if number is not None and number > HIGHEST_RATE:
            what = f"no client starts {number:g} operations a second"
            yield Finding(place, what, f"write at most `{HIGHEST_RATE:.0f}`")
    for index, rate in enumerate(load.rate):
        if rate.share is not None and rate.share < LEAST_SHARE:
            yield Finding(
                ("load", "rate", index),
                f"`rate` number {index + 1} is less than {percent(LEAST_SHARE)} of the baseline's "
                "capacity, which leaves the database with nothing to do",
                "write for example `rate: [60%]`",
            )
    if load.timeout < LEAST_TIMEOUT:
        yield Finding(
            ("load", "timeout"),
            f"the generator looks for late answers once in {duration(LEAST_TIMEOUT)}, so a shorter "
            "`timeout` is not kept",
            "write for example `timeout: 10s`",
        )


def _length(load: LoadSpec) -> Iterator[Finding]:
    if load.duration is not None and load.duration < LEAST_SECONDS and (load.threads or load.rate):
        yield Finding(
            ("load", "duration"),
            f"a run of {duration(load.duration)} is too short to tell whether the database is "
            "steady, so no run would be valid",
            f"write at least `duration: {math.ceil(LEAST_SECONDS)}s`",
        )


def _threads(load: LoadSpec) -> Iterator[Finding]:
    """A closed loop that a number of operations ends."""
    most = max(load.threads, default=0)
    if load.operations is None or load.duration is not None or not most:
        return
    hint = f"write for example `operations: {1000 * most}`, or `duration: 10s`"
    if load.operations < most:
        idle = most - load.operations
        what = f"{load.operations} operations leave {idle} of {most} threads without work"
        yield Finding(("load", "operations"), what, hint)
    elif load.operations < LEAST_OPERATIONS:
        yield Finding(
            ("load", "operations"),
            f"fewer than {LEAST_OPERATIONS} operations cannot tell whether the database is steady, "
            "so no run would be valid",
            hint,
        )


def _rates(load: LoadSpec) -> Iterator[Finding]:
    """An open load: its rate and its length tell how many operations it will have."""
    for index, rate in enumerate(load.rate):
        if rate.number is None or not 1 <= rate.number <= HIGHEST_RATE:
            continue  # that is told elsewhere
        if load.duration is None and load.operations is not None:
            yield from _counted(load.operations, rate.number)
        elif load.duration is not None and load.duration >= LEAST_SECONDS:
            least = math.ceil(operations_needed(load.duration) / load.duration)
            hint = f"write at least `rate: [{least}]`, or a longer `duration`"
            if what := never_valid(rate.number, load.duration):
                yield Finding(("load", "rate", index), what, hint)


def _counted(operations: int, rate: float) -> Iterator[Finding]:
    if what := never_valid(rate, operations / rate):
        hint = f"write for example `operations: {math.ceil(10 * rate)}`, or `duration: 10s`"
        yield Finding(("load", "operations"), what, hint)


def _loading(load: LoadSpec, index: int, workload: WorkloadSpec, records: int) -> Iterator[Finding]:
    """A measured load phase, which ends when all records are in."""
    name = shown(workload.name)
    most = max(load.threads, default=0)
    if records < most:
        yield Finding(
            ("workloads", index),
            f"the {records} records of {name} leave {most - records} of {most} threads without "
            "work",
            f"write for example `records: {1000 * most}`",
        )
    for rate in load.rate:
        if rate.number is None or not 1 <= rate.number <= HIGHEST_RATE:
            continue  # that is told elsewhere
        if records / rate.number < SHORTEST:
            yield Finding(
                ("workloads", index),
                f"at {rate.number:g} op/s, the {records} records of {name} are in after "
                f"{duration(records / rate.number)}; a run is valid from {duration(SHORTEST)} on",
                f"write for example `records: {math.ceil(10 * rate.number)}`",
            )
