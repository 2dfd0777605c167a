"""The answer as a table has it: conditions, below each the baseline, its variants and the twin."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from dunnage.analysis.groups import grouped
from dunnage.drawing.figure import Tabled
from dunnage.findings.differences.scope import Pairing
from dunnage.model.analysis import AbsentMetric, Analysis, Comparison, Summary, Verdict
from dunnage.model.estimate import Estimate
from dunnage.model.metrics import HEADLINE
from dunnage.wording import numbers, terms


@dataclass(frozen=True)
class Condition:
    """All that was measured with one workload and level against one baseline."""

    baseline: str
    workload: str
    level: str
    rows: Mapping[str, Mapping[str, Comparison]]
    """Deployment and metric → its comparison with the baseline."""
    values: Mapping[str, Estimate]
    """Metric → what the baseline itself reached."""
    twins: Mapping[str, Comparison]
    """Metric → what identical deployments differ by here."""


def all_comparisons(analysis: Analysis) -> tuple[Comparison, ...]:
    """Every comparison once. A question's own wins over an exploratory one of the same thing."""
    twins = {comparison.deployment for comparison in analysis.twin}
    found: dict[Pairing, Comparison] = {}
    named = (comparison for answer in analysis.answers for comparison in answer.comparisons)
    for comparison in (*named, *analysis.comparisons):
        if comparison.question is None and comparison.deployment in twins:
            continue
        found.setdefault(Pairing.of(comparison), comparison)
    return tuple(found.values())


def metrics(analysis: Analysis) -> tuple[str, ...]:
    """The metrics to show: the headline ones that there are, or are absent with a reason, then what
    questions ask besides."""
    present = dict.fromkeys(comparison.metric for comparison in all_comparisons(analysis))
    absent = {found.metric for found in analysis.absent_metrics}
    present |= dict.fromkeys(name for name in HEADLINE if name in absent)
    first = tuple(name for name in HEADLINE if name in present)
    return first + tuple(name for name in present if name not in HEADLINE)


def conditions(analysis: Analysis) -> tuple[Condition, ...]:
    """All comparisons, by baseline, workload and level, in the order in which they come."""
    groups = grouped(
        all_comparisons(analysis), lambda found: (found.baseline, found.workload, found.level)
    )
    values = reached_by(analysis)
    return tuple(
        Condition(
            baseline=baseline,
            workload=workload,
            level=level,
            rows={
                name: {found.metric: found for found in own}
                for name, own in grouped(every, lambda found: found.deployment).items()
            },
            twins={
                found.metric: found
                for found in analysis.twin
                if (found.workload, found.level) == (workload, level)
            },
            values={
                metric: estimate
                for (deployment, *place, metric), estimate in values.items()
                if deployment == baseline and place == [workload, level]
            },
        )
        for (baseline, workload, level), every in groups.items()
    )


def reached_by(analysis: Analysis) -> Mapping[tuple[str, str, str, str], Estimate]:
    """Deployment, workload, level and metric → what it reached."""
    return {
        (summary.deployment, summary.workload, summary.level, summary.metric): summary.estimate
        for summary in analysis.summaries
    }


def absent_by(analysis: Analysis) -> Mapping[tuple[str, str, str, str], str]:
    """Deployment, workload, level and metric → why no run has it."""
    return {
        (found.deployment, found.workload, found.level, found.metric): found.reason
        for found in analysis.absent_metrics
    }


def unsettled(analysis: Analysis) -> tuple[Comparison, ...]:
    """What the study's questions asked and these blocks could not settle."""
    return tuple(
        comparison
        for answer in analysis.answers
        for comparison in answer.comparisons
        if comparison.primary and comparison.verdict is Verdict.INCONCLUSIVE
    )


def heading(condition: Condition, among: Sequence[Condition]) -> str:
    """A condition's title; it names the baseline where there are several."""
    title = terms.condition(condition.workload, condition.level)
    if len({other.baseline for other in among}) > 1:
        title += f", against {terms.plain(condition.baseline)}"
    return title


def reached(analysis: Analysis) -> Tabled:
    """Headline metrics and, for each deployment and condition, what it reached alone."""
    every: tuple[Summary | AbsentMetric, ...] = (*analysis.summaries, *analysis.absent_metrics)
    there = {found.metric for found in every}
    metrics = tuple(metric for metric in HEADLINE if metric in there)
    values: dict[str, dict[str, str]] = {}
    for found in every:
        name = f"{found.deployment}, {found.workload}, {terms.level(found.level)}"
        values.setdefault(terms.plain(name), {})[found.metric] = (
            numbers.value(found.metric, found.estimate.value)
            if isinstance(found, Summary)
            else terms.plain(found.reason)
        )
    return Tabled(
        columns=tuple(map(terms.title, metrics)),
        rows=tuple(
            (name, tuple(cells.get(metric, "-") for metric in metrics))
            for name, cells in values.items()
        ),
    )
