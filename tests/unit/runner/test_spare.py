"""Spare blocks: how many are due."""

from __future__ import annotations

from dunnage.model.plan import Block, RunPlan, StayPlan
from dunnage.model.record import Status
from dunnage.model.study import Level, Phase, Workload
from dunnage.runner.spare import due

WORKLOAD = Workload(name="A", core="A", phase=Phase.RUN, records=10)


def block(index: int) -> Block:
    runs = tuple(
        RunPlan(
            id=f"b{index}-{name}",
            block=index,
            deployment=name,
            workload=WORKLOAD,
            level=Level(threads=1),
            repeat=1,
            position=0,
            seed=1,
        )
        for name in ("native", "docker")
    )
    stays = tuple(
        StayPlan(id=run.id, block=index, deployment=run.deployment, runs=(run,)) for run in runs
    )
    return Block(index=index, stays=stays)


BLOCKS = [block(index) for index in (1, 2, 3)]
VALID = {run.id: Status.VALID for each in BLOCKS for stay in each.stays for run in stay.runs}


def test_whole_blocks_need_no_spare() -> None:
    assert due(BLOCKS, VALID, spares=0, allowed=2) == 0


def test_each_block_with_an_invalid_or_missing_run_is_made_up_for_once() -> None:
    spoilt = {**VALID, "b1-native": Status.INVALID, "b1-docker": Status.UNKNOWN}
    del spoilt["b3-docker"]
    assert due(BLOCKS, spoilt, spares=0, allowed=5) == 2


def test_no_more_than_the_study_allows_in_all() -> None:
    assert due(BLOCKS, {}, spares=0, allowed=2) == 2
    assert due(BLOCKS, {}, spares=2, allowed=2) == 0


def test_a_spoilt_spare_block_is_made_up_for_by_another() -> None:
    spoilt = {**VALID, "b1-native": Status.INVALID, "b3-native": Status.INVALID}
    assert due(BLOCKS, spoilt, spares=1, allowed=2) == 1
