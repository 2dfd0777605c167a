"""The forest of each metric: its differences from the baseline, under every condition."""

from __future__ import annotations

from collections.abc import Sequence

from dunnage.drawing.figure import Axis
from dunnage.drawing.forest import Forest, Group
from dunnage.drawing.scale import linear
from dunnage.findings.differences import answer, sentences
from dunnage.model.analysis import Analysis, Comparison
from dunnage.wording import numbers, terms


def forests(analysis: Analysis) -> tuple[Forest, ...]:
    """Every metric of which anything was compared."""
    conditions = answer.conditions(analysis)
    drawn = (_forest(metric, conditions) for metric in answer.metrics(analysis))
    return tuple(
        forest
        for forest in drawn
        if any(row.difference.n for group in forest.groups for row in group.rows)
    )


def _forest(metric: str, conditions: Sequence[answer.Condition]) -> Forest:
    groups = tuple(
        Group(
            title=answer.heading(condition, conditions),
            about=f"{_reached(metric, condition)}, {_twins(condition.twins.get(metric))}",
            tolerance=cells[0].tolerance,
            twins=condition.twins.get(metric),
            rows=cells,
        )
        for condition in conditions
        if (cells := tuple(row[metric] for row in condition.rows.values() if metric in row))
    )
    shown = [each for group in groups for each in (*group.rows, group.twins) if each is not None]
    return Forest(
        name=f"differences-{metric}",
        metric=metric,
        title=terms.title(metric),
        axis=Axis(
            f"{terms.phrase(metric)}, difference",
            linear([0.0, *(end for comparison in shown for end in _ends(comparison))]),
            numbers.tick,
        ),
        sides=sentences.better(metric),
        groups=groups,
    )


def _reached(metric: str, condition: answer.Condition) -> str:
    name, reached = terms.plain(condition.baseline), condition.values.get(metric)
    return name if reached is None else f"{name} {numbers.value(metric, reached.value)}"


def _twins(comparison: Comparison | None) -> str:
    if comparison is None or comparison.difference.low is None:
        return "how far twins differ is not known"
    return f"twins differ by {numbers.interval(comparison.difference)}"


def _ends(comparison: Comparison) -> tuple[float, ...]:
    seen, tolerance = comparison.difference, comparison.tolerance
    ends = (seen.value, seen.low, seen.high, tolerance, -tolerance)
    return tuple(end for end in ends if end is not None)
