"""What `primary` of a question must make sense of: it names comparisons that the question has."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from dunnage.errors import shown
from dunnage.model.study import QuestionSpec
from dunnage.study.document import Path
from dunnage.study.draft import Draft
from dunnage.study.grammar import Finding, unknown
from dunnage.study.matrix import levels


def primary_rules(path: Path, question: QuestionSpec, draft: Draft) -> Iterator[Finding]:
    """Yield a finding for every name in `primary` that the question or the study does not have."""
    workloads = [workload.name for workload in draft.workloads.values()]
    loads = [level.name for level in levels(draft.load)] if draft.load else []
    known: tuple[tuple[str, str, Sequence[str], bool], ...] = (
        ("against", "deployment in `against`", question.against, True),
        ("workloads", "workload", workloads, not draft.touched("workloads")),
        ("levels", "level", loads, draft.load is not None and not draft.touched("load")),
    )
    for key, noun, there, whole in known:
        names: Sequence[str] = getattr(question.primary, key)
        for index, name in enumerate(names):
            place = (*path, key, index)
            if name in names[:index]:
                yield Finding(place, f"{shown(name)} appears twice")
            elif whole and name not in there:
                yield unknown(place, noun, name, there)
