"""Files that verbs share: a study, its plan, a result."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from dunnage import catalog
from dunnage.errors import UsageError
from dunnage.model.plan import Plan
from dunnage.model.study import Study
from dunnage.study.estimate import estimate_seconds, filter_plan
from dunnage.study.matrix import deployments
from dunnage.study.plan import make_plan
from dunnage.study.read import read_study
from dunnage.study.scale import readable_share, scaled

RESULTS = Path("results")
"""Where results go unless told otherwise."""

ScaleOption = Annotated[
    str | None,
    typer.Option(
        "--scale",
        help="For a quick try: records, measured time and blocks times this share, such as `10%`. "
        "What comes of it shows that a study runs, not what its answer is.",
    ),
]


def study_at(path: Path, scale: str | None = None) -> tuple[Study, str]:
    """Read a study file, made smaller by `scale` if given, with the text that says so.

    Raises StudyError with all its problems, UsageError for a share that is none.
    """
    try:
        content = path.read_bytes()
    except OSError as error:
        raise UsageError(
            f"cannot read the study: {error.strerror}", where=str(path), hint="dunnage init"
        ) from error
    text = content.decode(errors="replace")
    study = read_study(text, str(path), catalog.OFFER)
    if scale is None:
        return study, text
    try:
        smaller = scaled(text, study, readable_share(scale))
    except ValueError as error:
        raise UsageError(f"`--scale`: {error}", hint=f"dunnage plan {path} --scale 10%") from error
    return read_study(smaller, str(path), catalog.OFFER), smaller


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
