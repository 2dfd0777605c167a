"""Spare blocks: how many are due."""

from __future__ import annotations

from typing import Any

from dunnage.model.check import CheckResult, Status, Why
from dunnage.model.choices import Phase
from dunnage.model.deployment import Workload
from dunnage.model.level import Level
from dunnage.model.plan import Block, RunPlan, StayPlan
from dunnage.model.record import Record
from dunnage.runner.spare import due, undisturbed

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
UNDISTURBED = {run.id for each in BLOCKS for stay in each.stays for run in stay.runs}


def test_blocks_that_nothing_disturbed_need_no_spare() -> None:
    assert due(BLOCKS, UNDISTURBED, spares=0, allowed=2) == 0


def test_each_block_with_a_disturbed_or_missing_run_is_made_up_for_once() -> None:
    left = UNDISTURBED - {"b1-native", "b1-docker", "b3-docker"}
    assert due(BLOCKS, left, spares=0, allowed=5) == 2


def test_no_more_than_the_study_allows_in_all() -> None:
    assert due(BLOCKS, set(), spares=0, allowed=2) == 2
    assert due(BLOCKS, set(), spares=2, allowed=2) == 0


def test_a_spoilt_spare_block_is_made_up_for_by_another() -> None:
    left = UNDISTURBED - {"b1-native", "b3-native"}
    assert due(BLOCKS, left, spares=1, allowed=2) == 1


def spoilt_by(*gates: str) -> Record:
    checks = tuple(
        CheckResult(check=gate, status=Status.INVALID, why=Why.MEASURED) for gate in gates
    )
    known: dict[str, Any] = {"run": "b1-native", "status": Status.INVALID, "checks": checks}
    return Record.model_construct(**known)


def test_only_a_disturbance_from_outside_lets_a_block_be_made_up_for() -> None:
    assert undisturbed([spoilt_by("steal", "other load")]) == set()
    assert undisturbed([spoilt_by("clock", "steady")]) == set()
    assert undisturbed([spoilt_by("steal", "steady")]) == set()
    for gates in (("steady",), ("client",), ("search",)):
        assert undisturbed([spoilt_by(*gates)]) == {"b1-native"}
