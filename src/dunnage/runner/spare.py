"""Spare blocks: measured in place of blocks in which a run is missing or was disturbed.

A block with a run that is missing or not valid gives no pair for that run's comparisons, and a
study of six blocks has no interval then. So a study may hold spare blocks ready. One is measured
for what came from outside alone: a run without a record, or one that was disturbed from outside
(`dunnage.analysis.checks.disturbed`, as for measuring again). A run that only other gates made
invalid gets none: such gates look at what the deployment did, and would select by outcome. So it
is no look and costs nothing of the error rate. Spoilt blocks stay in the result and its counts.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet

from dunnage.analysis.checks import disturbed
from dunnage.model.plan import Block, Plan
from dunnage.model.record import Record
from dunnage.model.study import Study
from dunnage.runner.added import add_blocks
from dunnage.store.read import Result, open_result
from dunnage.store.write import ResultWriter


def undisturbed(records: Iterable[Record]) -> frozenset[str]:
    """Finished runs that nothing from outside spoilt, valid or not."""
    return frozenset(record.run for record in records if not disturbed(record.checks))


def due(blocks: Sequence[Block], left: AbstractSet[str], spares: int, allowed: int) -> int:
    """How many blocks are to be added now.

    `left` holds the undisturbed runs, `spares` says how many of `blocks` were added as spares, and
    `allowed` how many there may be in all.
    """
    whole = sum(_whole(block, left) for block in blocks)
    lacking = len(blocks) - spares - whole
    return max(0, min(lacking, allowed - spares))


def add(study: Study, writer: ResultWriter) -> Plan | None:
    """Add the spare blocks that are due; return the whole plan, None when none is due."""
    result = open_result(writer.layout.root)
    present = len(result.plan.blocks)
    added = due(result.plan.blocks, undisturbed(result.records), _spares(result), study.spare)
    if not added:
        return None
    return add_blocks(study, result, writer, present + added, seen=0, spare=True).plan


def _spares(result: Result) -> int:
    return sum(look.added for look in result.looks if look.spare)


def _whole(block: Block, left: AbstractSet[str]) -> bool:
    return all(run.id in left for stay in block.stays for run in stay.runs)
