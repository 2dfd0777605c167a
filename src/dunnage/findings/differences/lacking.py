"""What a part of a study lacks, so that nothing can be compared there, or nothing be claimed."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from enum import StrEnum

from dunnage.model.plan import Plan
from dunnage.model.study import QuestionSpec, Study
from dunnage.study.matrix import TWIN_SUFFIX, levels


class Role(StrEnum):
    """What the deployments would be needed for."""

    BASELINE = "baseline"
    AGAINST = "against"
    """All that the baseline is compared with."""
    TWIN = "twin"


@dataclass(frozen=True)
class Lacking:
    """Deployments that could run, and were not part of the plan."""

    role: Role
    names: tuple[str, ...]
    baseline: str
    """Of the question that lacks them; empty for a twin."""
    part: tuple[str, ...]
    """What a part of the study that lacks nothing consists of: deployments, and of workloads and
    levels those of the plan, unless it has all."""


def lacking(study: Study, plan: Plan) -> Lacking | None:
    """What keeps a part of a study from an answer to any question; None where nothing does.

    What cannot run here is not lacking: nobody can ask for it.
    """
    known = {each.name for each in plan.deployments}
    skipped = {each.deployment for each in plan.skipped}
    twins = () if study.twin is None else (study.twin, study.twin + TWIN_SUFFIX)
    twins = () if skipped & set(twins) else twins
    if any(_both_sides(question, known) for question in study.questions.values()):
        absent = tuple(name for name in twins if name not in known)
        original = [each.name for each in plan.deployments if each.twin_of is None]
        part = tuple(dict.fromkeys((*original, *twins, *_narrowed(study, plan))))
        return Lacking(Role.TWIN, absent, "", part) if absent else None
    for question in sorted(study.questions.values(), key=lambda asked: not _sides(asked, known)):
        against = [name for name in question.against if name not in skipped]
        if question.baseline in skipped or not against:
            continue
        have = [name for name in against if name in known]
        both = (question.baseline, *(have or against))
        part = tuple(dict.fromkeys((*both, *twins, *_narrowed(study, plan))))
        if question.baseline in known:
            return Lacking(Role.AGAINST, tuple(against), question.baseline, part)
        return Lacking(Role.BASELINE, (question.baseline,), question.baseline, part)
    return None


def _narrowed(study: Study, plan: Plan) -> tuple[str, ...]:
    """Workloads and levels to which the plan is narrowed."""
    runs = list(plan.runs())
    workloads = dict.fromkeys(run.workload.name for run in runs)
    at = dict.fromkeys(run.level.name for run in runs)
    return (
        *(workloads if len(workloads) < len(study.workloads) else ()),
        *(at if len(at) < len(levels(study.load)) else ()),
    )


def _sides(question: QuestionSpec, known: Collection[str]) -> int:
    """How many deployments of a question there are."""
    return sum(name in known for name in (question.baseline, *question.against))


def _both_sides(question: QuestionSpec, known: Collection[str]) -> bool:
    return question.baseline in known and _sides(question, known) > 1
