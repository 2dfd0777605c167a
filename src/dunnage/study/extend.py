"""Blocks added to a plan: exactly those that a longer plan would have had from the beginning."""

from __future__ import annotations

from collections.abc import Sequence

from dunnage.errors import ResultError
from dunnage.model.deployment import Deployment
from dunnage.model.plan import Block, Plan, RunPlan
from dunnage.model.study import Study
from dunnage.study.plan import make_plan


def added_blocks(
    study: Study, deployments: Sequence[Deployment], plan: Plan, total: int, *, where: str
) -> Plan:
    """Return a plan of the blocks that bring `plan` from what it has to `total`.

    Order, seeds and positions of a block depend only on the study's seed and the block's number.
    The added blocks are therefore those of a plan of `total` blocks. Ids may differ in leading
    zeros from a hundred blocks on. If `plan` has part of the runs (`--only`), so have the added
    blocks. `deployments` are all resolved ones of the study.

    Raises ResultError that names `where` when the study would no longer give the blocks that are
    there: then another Dunnage planned them, and a longer study would not be one study.
    """
    longer = make_plan(study.model_copy(update={"blocks": total}), deployments, plan.skipped)
    cells = {_cell(run) for run in plan.runs()}
    blocks = [block.part(lambda run: _cell(run) in cells) for block in longer.blocks]
    present = len(plan.blocks)
    if [_shape(block) for block in blocks[:present]] != [_shape(block) for block in plan.blocks]:
        raise ResultError(
            "another version of Dunnage planned the blocks of this result differently, "
            "so no blocks can be added",
            where=where,
            hint="dunnage run STUDY  # a new result",
        )
    return plan.model_copy(update={"blocks": tuple(blocks[present:])})


def _cell(run: RunPlan) -> tuple[str, str, str, int]:
    return run.deployment, run.workload.name, run.level.name, run.repeat


def _shape(block: Block) -> list[RunPlan]:
    """Everything of a block but its ids."""
    return [run.model_copy(update={"id": ""}) for stay in block.stays for run in stay.runs]
