"""What stands beside the answers: variance, advice, tails, time lines, counters."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from dunnage.analysis.gather import Gathered
from dunnage.findings.counters.counters import associations
from dunnage.findings.differences.contrast import Contrasts
from dunnage.findings.tails.quantiles import latency_differences
from dunnage.findings.timeline.timeline import timeline
from dunnage.findings.variance.advice import advise, block_seconds
from dunnage.findings.variance.variance import split
from dunnage.model.analysis import QuestionAnswer
from dunnage.model.explanation import Association, LatencyDifference, TimeLine
from dunnage.model.load import Samples
from dunnage.model.metrics import KINDS
from dunnage.model.plan import Plan
from dunnage.model.record import StayRecord
from dunnage.model.study import Study
from dunnage.model.variance import QuestionAdvice, VarianceSplit

Pairs = Sequence[tuple[str, str]]
"""(baseline, deployment) of everything that is compared."""


def pairs(study: Study, plan: Plan, reference: str) -> Pairs:
    """Every deployment against `reference`, then what questions ask beside that."""
    known = [deployment.name for deployment in plan.deployments]
    asked = [
        (question.baseline, other)
        for question in study.questions.values()
        for other in question.against
        if {question.baseline, other} <= set(known)
    ]
    return list(dict.fromkeys([*((reference, n) for n in known if n != reference), *asked]))


def variance(plan: Plan, gathered: Gathered, metrics: Sequence[str]) -> tuple[VarianceSplit, ...]:
    """Parts of the variance of every metric that has values, at every setting."""
    copies = [deployment for deployment in plan.deployments if deployment.twin_of]
    originals = [copies[0].twin_of] if copies else []
    twins = [name for name in (*originals, *(copy.name for copy in copies)) if name]
    return tuple(
        split(metric, setting.workload, setting.level, cells, twins, repeats(plan))
        for metric in metrics
        for setting in gathered.settings
        if (cells := gathered.cells(setting, metric))
    )


def repeats(plan: Plan) -> int:
    """How often a stay makes each of its runs."""
    return max((run.repeat for run in plan.runs()), default=1)


def advice(
    answers: Sequence[QuestionAnswer],
    plan: Plan,
    gathered: Gathered,
    stays: Sequence[StayRecord],
    splits: Sequence[VarianceSplit],
) -> tuple[QuestionAdvice, ...]:
    """What would settle each question."""
    seconds = block_seconds(tuple(gathered.records.values()), stays)
    return tuple(advise(answer, splits, seconds, repeats(plan)) for answer in answers)


def tails(contrasts: Contrasts, compared: Pairs) -> tuple[LatencyDifference, ...]:
    """Differences along the latency distributions of everything that is compared, at this look."""
    return tuple(
        difference
        for baseline, deployment in compared
        for setting in contrasts.gathered.settings
        for difference in latency_differences(contrasts, baseline, deployment, setting, KINDS)
    )


def counted(gathered: Gathered, compared: Pairs) -> tuple[Association, ...]:
    """Differences in counters of everything that is compared."""
    return tuple(
        association
        for baseline, deployment in compared
        for setting in gathered.settings
        for association in associations(gathered, baseline, deployment, setting)
    )


def timelines(
    plan: Plan,
    gathered: Gathered,
    logs: Callable[[str], bytes | None],
    samples: Callable[[str], Iterable[Samples]],
) -> tuple[TimeLine, ...]:
    """Of every deployment and setting that has a valid run."""
    found = [
        timeline(
            deployment.name,
            setting,
            [r for r in gathered.valid_records(deployment.name, setting) if not r.turns],
            logs,
            samples,
        )
        for deployment in plan.deployments
        for setting in gathered.settings
    ]
    return tuple(line for line in found if line is not None)
