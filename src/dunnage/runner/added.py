"""Blocks added to a result: a line that says why, then a further plan."""

from __future__ import annotations

import time

from dunnage import catalog
from dunnage.analysis.looks import free
from dunnage.model.look import Look
from dunnage.model.plan import Plan
from dunnage.model.study import Study
from dunnage.store.parse import value_of
from dunnage.store.read import Result, open_result
from dunnage.store.write import ResultWriter
from dunnage.study.extend import added_blocks
from dunnage.study.matrix import deployments


def add_blocks(
    study: Study, result: Result, writer: ResultWriter, total: int, *, seen: int, spare: bool
) -> Result:
    """Bring a result to `total` blocks and return it anew.

    `seen` is the number of blocks of which somebody saw something; `spare` says that a rule of the
    study adds them. Raises ResultError when this Dunnage would plan the study otherwise.
    """
    root, present = result.layout.root, len(result.plan.blocks)
    plan = added_blocks(
        study, deployments(study, catalog.OFFER), result.plan, total, where=str(root)
    )
    look = Look(
        time=time.time(),
        plan=len(result.further_plans) + 2,
        complete=seen,
        planned=present,
        added=total - present,
        spare=spare,
        free=free(seen, total, study.blocks),
    )
    writer.add_blocks(look, plan)
    return open_result(root)


def complete(result: Result, writer: ResultWriter) -> None:
    """Have the journal say which blocks were added, where a crash came before that."""
    plans = result.unannounced_plans.items()
    writer.complete_blocks({number: value_of(path, Plan) for number, path in plans})
