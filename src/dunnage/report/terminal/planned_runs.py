"""Every run of a plan, one a line, in the order in which they are to happen."""

from __future__ import annotations

from collections.abc import Iterator

from rich import box
from rich.table import Table
from rich.text import Text

from dunnage.model.plan import BEFORE, Plan, RunPlan
from dunnage.wording import terms


def runs_table(plan: Plan) -> Table:
    """The calibration first, then block by block; a line between stays."""
    table = Table(box=box.SIMPLE_HEAD)
    table.add_column("block", justify="right")
    for title in ("deployment", "workload", "load", "run"):
        table.add_column(title, overflow="fold")
    for runs in _stays(plan):
        for at, run in enumerate(runs, start=1):
            table.add_row(*_cells(run), end_section=at == len(runs))
    return table


def _stays(plan: Plan) -> Iterator[tuple[RunPlan, ...]]:
    if plan.calibration is not None:
        yield plan.calibration.stay.runs
    for block in plan.blocks:
        for stay in block.stays:
            yield stay.runs


def _cells(run: RunPlan) -> tuple[Text, ...]:
    block = "before" if run.block == BEFORE else str(run.block)
    cells = (block, run.deployment, run.workload.name, run.level.label, run.id)
    return tuple(Text(terms.plain(cell)) for cell in cells)
