"""Files that verbs share: a study, its plan, a result."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from dunnage import catalog
from dunnage.errors import UsageError
from dunnage.model.plan import Plan
from dunnage.model.study import Study
from dunnage.study.estimate import estimate_seconds, filter_plan
from dunnage.study.matrix import deployments
from dunnage.study.plan import make_plan
from dunnage.study.read import read_study

RESULTS = Path("results")
"""Where results go unless told otherwise."""


def study_at(path: Path) -> tuple[Study, str]:
    """Read a study file; raises StudyError with all its problems."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise UsageError(
            f"cannot read the study: {error.strerror}", where=str(path), hint="dunnage init"
        ) from error
    text = content.decode(errors="replace")
    return read_study(text, str(path), catalog.OFFER), text


def planned(study: Study, only: Sequence[str] = ()) -> tuple[Plan, float]:
    """Plan a study and estimate its seconds.

    Raises UnavailableError with every reason when a deployment cannot run here, unless the study
    says `unavailable: skip`.
    """
    runnable, skipped = catalog.available(study, deployments(study, catalog.OFFER))
    plan = make_plan(study, runnable, skipped)
    if only:
        plan = filter_plan(plan, only)
    return plan, estimate_seconds(plan, study)
