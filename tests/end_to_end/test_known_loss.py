"""A study that asks for a loss of throughput: the slowdown is found, used and checked."""

from __future__ import annotations

import sys
from collections.abc import Callable

import pytest
from faulty import Carry

from dunnage.errors import ExitCode
from dunnage.hosts.fake.host import Task
from dunnage.hosts.fake.world import Call, World
from dunnage.model.damage import Flaw
from dunnage.runner.known_loss import STEPS, WITHIN
from dunnage.store.read import open_result
from dunnage.store.whole import foundation
from in_process import typed_here

STUDY = """
dunnage: 1
name: losing
testbed: {kind: fake, hosts: {db: 1, client: 1}}
database: {kind: fake, topology: single}
deployments:
  native: {platform: fake, network: plain}
  slowed: {platform: fake, network: plain, loss: 10%}
workloads: [C]
records: 100
load: {threads: [4], warmup: 1s, duration: 4s}
blocks: 6
generator: fake
sampler: {kind: fake}
questions:
  known: {baseline: native, against: [slowed], tolerance: 1%}
"""


def nothing(_: World) -> None:
    """No fault."""


def no_engine(times: int) -> Callable[[World], None]:
    """A fault: the first loads with servers that are held break off."""

    def put(world: World) -> None:
        load, left = world.programs["fake-load"], [times]

        def broken(call: Call) -> Task:
            if "/loss/" in call.option("--plan") and left[0]:
                left[0] -= 1
                return call.fail("out of memory", 1)
            return load(call)

        world.programs["fake-load"] = broken

    return put


def test_the_loss_is_found_before_block_1_and_again_after_the_last(carry_out: Carry) -> None:
    ended = carry_out(nothing, STUDY)
    assert ended.code == 0, ended.shown
    assert len(ended.result.finished()) == 12
    found = ended.result.losses["slowed"]
    assert found.share == pytest.approx(0.1, abs=WITHIN)
    assert 1 <= len(found.steps) <= STEPS
    assert found.checked is not None
    assert found.checked.value == pytest.approx(0.1, abs=2 * WITHIN)
    assert all(step.cpu == pytest.approx(0.0005) for step in found.steps)
    slowed = [record for record in ended.result.records if record.deployment == "slowed"]
    assert len(slowed) == 6
    assert all(record.paused == pytest.approx(found.share, abs=0.01) for record in slowed)
    assert {record.paused for record in ended.result.records} - {
        record.paused for record in slowed
    } == {None}
    order = [event["event"] for event in ended.result.events()]
    assert order.index("loss measured") < order.index("stay begins")
    assert order.index("loss measured", order.index("stay begins")) > order.index("stay ended")


def test_a_broken_look_is_tried_again_in_a_new_stay(carry_out: Carry) -> None:
    ended = carry_out(no_engine(1), STUDY)
    assert ended.code == 0, ended.shown
    assert [event["stay"] for event in ended.events("loss begins")] == [
        "loss-slowed",
        "loss-slowed.2",
        "loss-slowed-checked",
    ]


def test_a_check_that_failed_is_made_when_the_result_is_resumed(
    carry_out: Carry, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = {"measured": False, "for good": True}

    def no_check(world: World) -> None:
        load = world.programs["fake-load"]

        def after_the_blocks(call: Call) -> Task:
            broken["measured"] |= "/runs/" in call.option("--plan")
            if "/loss/" in call.option("--plan") and all(broken.values()):
                return call.fail("out of memory", 1)
            return load(call)

        world.programs["fake-load"] = after_the_blocks

    ended = carry_out(no_check, STUDY)
    assert ended.code == ExitCode.FAILED
    assert "--resume" in ended.shown
    assert len(ended.result.finished()) == 12
    assert ended.result.losses["slowed"].checked is None
    broken["for good"] = False
    root = ended.result.layout.root
    monkeypatch.setattr(sys, "argv", ["dunnage", "run", "--resume", str(root)])
    with pytest.raises(SystemExit) as again:
        typed_here()
    assert again.value.code == 0
    assert open_result(root).losses["slowed"].checked is not None


def test_without_its_loss_there_is_no_study(carry_out: Carry) -> None:
    ended = carry_out(no_engine(2), STUDY)
    assert ended.code not in (0, 5)
    assert "out of memory" in ended.shown
    assert not ended.result.records
    assert not ended.result.losses


def test_a_loss_that_is_gone_is_missed_without_the_journal(carry_out: Carry) -> None:
    root = carry_out(nothing, STUDY.replace("blocks: 6", "blocks: 1")).result.layout.root
    assert not foundation(open_result(root))
    layout = open_result(root).layout
    layout.journal.write_bytes(b"")
    layout.losses.unlink()
    missing = [each.file for each in foundation(open_result(root)) if each.flaw is Flaw.MISSING]
    assert missing == ["losses.json"]
