"""What each deployment adds to the one before it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from dunnage.findings.rungs.sentences import REST
from dunnage.model.analysis import Analysis
from dunnage.model.estimate import Estimate
from dunnage.model.parity import Factor
from dunnage.model.rungs import Rungs
from dunnage.report.tables.column import Column, Shown, count, joined, number, text
from dunnage.report.tables.table import Table
from dunnage.wording import parity


class _Row(NamedTuple):
    found: Rungs
    kind: str
    """`step`, `the rest` or `whole`."""
    baseline: str
    deployment: str
    difference: float | None
    interval: Estimate | None
    factors: tuple[Factor, ...] = ()


def _time(name: str, of: Callable[[_Row], float | None]) -> Column[_Row]:
    return number(name, of, unit="s/op", shown=Shown("µs/op", 1e6))


_COLUMNS: Sequence[Column[_Row]] = (
    text("workload", lambda row: row.found.workload),
    text("level", lambda row: row.found.level),
    text("metric", lambda row: row.found.metric),
    text("kind", lambda row: row.kind),
    text("baseline", lambda row: row.baseline),
    text("deployment", lambda row: row.deployment),
    _time("difference", lambda row: row.difference),
    _time("low", lambda row: row.interval.low if row.interval else None),
    _time("high", lambda row: row.interval.high if row.interval else None),
    count("blocks", lambda row: row.interval.n if row.interval else None),
    text("factors", lambda row: joined(map(parity.factor, row.factors))),
    text("method", lambda row: row.interval.method if row.interval else None),
)


def rungs(analysis: Analysis) -> Table[_Row]:
    """A row for each step, one for the whole, and one for what the steps do not add up to, where
    they have not all the same blocks."""
    rows = [row for found in analysis.rungs for row in _rows(found)]
    return Table("rungs", "What each deployment adds to the one before it", _COLUMNS, rows)


def _rows(found: Rungs) -> Iterator[_Row]:
    named = [*(("step", step) for step in found.steps), ("whole", found.whole)]
    for kind, step in named:
        seen = step.difference
        value = seen.value if seen.n else None
        sides = step.baseline, step.deployment
        yield _Row(found, kind, *sides, value, seen, step.factors)
    ends = found.whole.baseline, found.whole.deployment
    if found.unexplained:
        yield _Row(found, REST, *ends, found.unexplained, None)
