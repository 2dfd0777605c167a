"""The answer as a table has it: conditions, below each the baseline, its variants and the twin."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from dunnage.analysis.groups import grouped
from dunnage.analysis.intervals import MINIMUM_BLOCKS
from dunnage.analysis.looks import coverage, number
from dunnage.drawing.figure import Tabled
from dunnage.findings.differences import looks
from dunnage.findings.differences.scope import Pairing
from dunnage.model.analysis import Analysis, Comparison, Verdict
from dunnage.model.estimate import Estimate
from dunnage.model.metrics import HEADLINE
from dunnage.model.plan import Plan
from dunnage.model.study import Study
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
    """The metrics to show: the headline ones that there are, then what questions ask besides."""
    present = dict.fromkeys(comparison.metric for comparison in all_comparisons(analysis))
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


def unsettled(analysis: Analysis) -> tuple[Comparison, ...]:
    """What the study's questions asked and these blocks could not settle."""
    return tuple(
        comparison
        for answer in analysis.answers
        for comparison in answer.comparisons
        if comparison.primary and comparison.verdict is Verdict.INCONCLUSIVE
    )


def reading(analysis: Analysis) -> str:
    """How the numbers are to be read, in one or two sentences."""
    estimates = [comparison.difference for comparison in all_comparisons(analysis)]
    with_interval = [estimate for estimate in estimates if estimate.low is not None]
    if not with_interval:
        return too_few(max((estimate.n for estimate in estimates), default=0))
    blocks = sorted({estimate.n for estimate in with_interval})
    span = str(blocks[0]) if len(blocks) == 1 else f"{blocks[0]} to {blocks[-1]}"
    text = (
        f"differences from the baseline with intervals over {span} blocks; those that decide a "
        f"question hold together at {numbers.coverage(with_interval[0])}, each other one "
        "alone"
    )
    if any(not comparison.primary for comparison in all_comparisons(analysis)):
        text += "; * secondary or exploratory"
    if errs := together(analysis):
        text += f"; {errs}"
    if told := looks.brief(analysis):
        text += f"; {told}"
    return text


def together(analysis: Analysis) -> str:
    """What several questions may err in all, which no interval of one of them says."""
    asked = sum(1 for found in analysis.answers if found.comparisons)
    if asked < 2:
        return ""
    each = 1 - coverage(number(analysis.looks))
    return (
        f"each of the {asked} answers is wrong in at most {each * 100:.3g} % of studies like this, "
        f"at least one of them in at most {min(1.0, asked * each) * 100:.3g} %"
    )


def too_few(blocks: int) -> str:
    """Say that there are too few blocks for an interval, and how many are missing."""
    missing = max(MINIMUM_BLOCKS - blocks, 0)
    return (
        f"no interval below {MINIMUM_BLOCKS} blocks: {numbers.count(blocks, 'block')} so far, "
        f"{missing} more needed"
    )


def runs_counted(analysis: Analysis) -> str:
    """How many of the planned runs count, and what became of the others."""
    return (
        f"{analysis.valid} of {analysis.planned} valid, {analysis.invalid} invalid, "
        f"{analysis.unknown} unknown, {analysis.missing} missing"
    ) + besides_the_plan(analysis)


def besides_the_plan(analysis: Analysis) -> str:
    """What was measured besides the plan: again after a disturbance, and spare blocks."""
    text = ""
    if analysis.disturbed:
        gates = ", ".join(f"{gate} {number} ×" for gate, number in analysis.disturbed.items())
        text += f"; disturbed attempts were measured again ({gates})"
    spares = sum(look.added for look in analysis.looks if look.spare)
    if spares:
        text += f"; {numbers.count(spares, 'spare block')} for incomplete ones"
    return text


def heading(condition: Condition, among: Sequence[Condition]) -> str:
    """A condition's title; it names the baseline where there are several."""
    title = terms.condition(condition.workload, condition.level)
    if len({other.baseline for other in among}) > 1:
        title += f", against {terms.plain(condition.baseline)}"
    return title


def reached(analysis: Analysis) -> Tabled:
    """Headline metrics and, for each deployment and condition, what it reached alone."""
    there = {summary.metric for summary in analysis.summaries}
    metrics = tuple(metric for metric in HEADLINE if metric in there)
    values: dict[str, dict[str, str]] = {}
    for summary in analysis.summaries:
        name = f"{summary.deployment}, {summary.workload}, {terms.level(summary.level)}"
        text = numbers.value(summary.metric, summary.estimate.value)
        values.setdefault(terms.plain(name), {})[summary.metric] = text
    return Tabled(
        columns=tuple(map(terms.title, metrics)),
        rows=tuple(
            (name, tuple(found.get(metric, "-") for metric in metrics))
            for name, found in values.items()
        ),
    )


def nothing_compared(analysis: Analysis, study: Study, plan: Plan) -> str:
    """Why there is no comparison at all, and what would make one; empty where there is one."""
    if any(comparison.difference.n for comparison in all_comparisons(analysis)):
        return ""
    known = [deployment.name for deployment in plan.deployments]
    wanted = dict.fromkeys(question.baseline for question in study.questions.values())
    lacking = [name for name in wanted if name not in known]
    skipped = {each.deployment for each in analysis.skipped}
    left_out = [name for name in lacking if name not in skipped]
    if left_out:
        twins = {deployment.name for deployment in plan.deployments if deployment.twin_of}
        together = [*left_out, *(name for name in known if name not in twins)]
        names = terms.listed([f"`{terms.plain(name)}`" for name in left_out])
        return (
            f"No comparison could be made: the baseline {names} was not part of this run. "
            f"With it: `dunnage run STUDY {' '.join(f'--only {name}' for name in together)}`"
        )
    if lacking:
        names = terms.listed([f"`{terms.plain(name)}`" for name in lacking])
        return f"No comparison could be made: the baseline {names} cannot run here."
    if len(known) == 1:
        return "No comparison could be made: only one deployment was run."
    if not analysis.runs:
        return "No comparison could be made: no run has ended."
    return "No comparison could be made: no block has a valid run of both sides."
