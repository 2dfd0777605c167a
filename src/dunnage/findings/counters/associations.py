"""Counters that moved together with the speed: what lies beside a difference, never its cause."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dunnage.analysis.groups import grouped
from dunnage.model.analysis import Analysis
from dunnage.model.explanation import Association
from dunnage.wording import numbers, terms
from dunnage.wording.quantity import unit

_FAR = 1.0
"""Differences beyond this share of the baseline's value are drawn at the edge."""


@dataclass(frozen=True)
class Row:
    """One counter of one pair."""

    title: str
    unit: str
    machine: bool
    baseline: str
    value: str
    difference: str
    interval: str
    clear: bool
    """Whether the interval leaves out zero."""
    at: float | None
    """Place of the difference over the baseline's value, in percent; None where that is 0."""
    low: float | None
    high: float | None


@dataclass(frozen=True)
class Beside:
    """One deployment against its baseline under one condition."""

    deployment: str
    baseline: str
    condition: str
    rows: tuple[Row, ...]
    clear: int
    still: tuple[str, ...]
    """Counters that are 0 on both sides: there is nothing to show of them."""


def beside(analysis: Analysis) -> tuple[Beside, ...]:
    """Every pair with its counters; pairs with many clear differences first, twins last."""
    twins = {comparison.deployment for comparison in analysis.twin}
    groups = grouped(
        analysis.associations,
        lambda found: (found.deployment, found.baseline, found.workload, found.level),
    )
    pairs = [_beside(*key, found) for key, found in groups.items()]
    return tuple(sorted(pairs, key=lambda pair: (pair.deployment in twins, -pair.clear)))


def _beside(
    deployment: str, baseline: str, workload: str, level: str, associations: Sequence[Association]
) -> Beside:
    still = [one for one in associations if not one.baseline_value.value and not one.value.value]
    rows = sorted(
        map(_row, (one for one in associations if one not in still)), key=lambda row: not row.clear
    )
    return Beside(
        deployment=terms.plain(deployment),
        baseline=terms.plain(baseline),
        condition=terms.condition(workload, level),
        rows=tuple(rows),
        clear=sum(row.clear for row in rows),
        still=tuple(terms.plain(one.title) for one in still),
    )


def _row(association: Association) -> Row:
    difference = association.difference
    whole = association.baseline_value.value
    sides = (association.baseline_value.value, association.value.value)
    shown = unit(association.unit, max(map(abs, sides)))
    low, high = difference.low, difference.high
    known = low is not None and high is not None
    return Row(
        title=terms.plain(association.title),
        machine=association.machine,
        unit=shown.label,
        baseline=shown.bare(sides[0]),
        value=shown.bare(sides[1]),
        difference=shown.signed(difference.value) if difference.n else "-",
        interval=f"{shown.signed(low)} … {shown.signed(high)}"
        if low is not None and high is not None
        else numbers.NO_INTERVAL,
        clear=known and not (low or 0.0) <= 0 <= (high or 0.0),
        at=_place(difference.value, whole) if difference.n else None,
        low=None if low is None else _place(low, whole),
        high=None if high is None else _place(high, whole),
    )


def _place(difference: float, whole: float) -> float | None:
    """50 is no difference; 0 and 100 are as much as the baseline's value, less or more."""
    if whole <= 0:
        return None
    return round(50 + 50 * min(max(difference / whole / _FAR, -1.0), 1.0), 2)
