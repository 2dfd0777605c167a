"""Spare blocks: measured in place of blocks in which a run was spoilt.

A block with a run that is missing or not valid gives no pair for that run's comparisons, and a
study of six blocks has no interval then. So a study may hold spare blocks ready. Whether one is
measured depends on validity alone, never on what was measured, so it is no look and costs nothing
of the error rate. Spoilt blocks stay in the result and in its counts.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence

from dunnage import catalog
from dunnage.model.look import Look
from dunnage.model.plan import Block, Plan
from dunnage.model.record import Status
from dunnage.model.study import Study
from dunnage.store.read import Result, open_result
from dunnage.store.write import ResultWriter
from dunnage.study.extend import added_blocks
from dunnage.study.matrix import deployments


def due(blocks: Sequence[Block], status: Mapping[str, Status], spares: int, allowed: int) -> int:
    """How many blocks are to be added now.

    `status` holds the finished runs, `spares` says how many of `blocks` were added as spares, and
    `allowed` how many there may be in all.
    """
    whole = sum(_whole(block, status) for block in blocks)
    lacking = len(blocks) - spares - whole
    return max(0, min(lacking, allowed - spares))


def add(study: Study, writer: ResultWriter) -> Plan | None:
    """Add the spare blocks that are due; return the whole plan, None when none is due."""
    result = open_result(writer.layout.root)
    present = len(result.plan.blocks)
    added = due(result.plan.blocks, _status(result), _spares(result), study.spare)
    if not added:
        return None
    further = added_blocks(
        study,
        deployments(study, catalog.OFFER),
        result.plan,
        present + added,
        where=str(result.layout.root),
    )
    look = Look(
        time=time.time(),
        plan=len(result.layout.further_plans()) + 2,
        complete=0,
        planned=present,
        added=added,
        spare=True,
    )
    writer.add_blocks(look, further)
    return open_result(writer.layout.root).plan


def _status(result: Result) -> dict[str, Status]:
    return {record.run: record.status for record in result.records}


def _spares(result: Result) -> int:
    return sum(look.added for look in result.looks if look.spare)


def _whole(block: Block, status: Mapping[str, Status]) -> bool:
    return all(status.get(run.id) is Status.VALID for stay in block.stays for run in stay.runs)
