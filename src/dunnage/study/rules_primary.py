"""What `primary` of a question must make sense of: it names comparisons that the question has."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from dunnage.model.study import QuestionSpec
from dunnage.study.document import Path
from dunnage.study.draft import Draft
from dunnage.study.grammar import Finding
from dunnage.study.matrix import levels
from dunnage.study.suggest import hint, shown


def primary_rules(path: Path, question: QuestionSpec, draft: Draft) -> Iterator[Finding]:
    """Yield a finding for every name in `primary` that the question or the study does not have."""
    workloads = [workload.name for workload in draft.workloads.values()]
    loads = [level.name for level in levels(draft.load)] if draft.load else []
    known: tuple[tuple[str, Sequence[str], Sequence[str], str, bool], ...] = (
        ("against", question.primary.against, question.against, "deployment in `against`", True),
        (
            "workloads",
            question.primary.workloads,
            workloads,
            "workload",
            not draft.touched("workloads"),
        ),
        (
            "levels",
            question.primary.levels,
            loads,
            "level",
            draft.load is not None and not draft.touched("load"),
        ),
    )
    for key, names, there, noun, whole in known:
        for index, name in enumerate(names):
            place = (*path, key, index)
            if name in names[:index]:
                yield Finding(place, f"{shown(name)} appears twice")
            elif whole and name not in there:
                yield Finding(place, f"unknown {noun} {shown(name)}", hint(name, there))
