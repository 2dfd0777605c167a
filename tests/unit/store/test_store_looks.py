"""A look is written before the blocks that came of it, and neither is ever lost or changed."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import pytest
from results import tiny_plan, tiny_result

from dunnage.errors import ResultError
from dunnage.model.damage import Damage, Flaw
from dunnage.model.look import Look
from dunnage.model.plan import Block, Plan
from dunnage.store.events import ADDED, KEPT, OPENED
from dunnage.store.read import open_result
from dunnage.store.whole import foundation


def further(block: int) -> Plan:
    plan = tiny_plan(f"r{block}")
    stay = plan.blocks[0].stays[0].model_copy(update={"id": f"b0{block}-native", "block": block})
    return plan.model_copy(update={"blocks": (Block(index=block, stays=(stay,)),)})


def look(plan: int) -> Look:
    return Look(time=1.0, plan=plan, complete=plan - 1, planned=plan - 1, added=1)


def test_added_blocks_belong_to_the_plan_and_no_plan_is_changed(tmp_path: Path) -> None:
    writer = tiny_result(tmp_path, "r1")
    before = writer.layout.plan.read_bytes()
    writer.add_blocks(look(2), further(2))
    writer.add_blocks(look(3), further(3))
    result = open_result(writer.layout.root)
    assert [run.id for run in result.plan.runs()] == ["r1", "r2", "r3"]
    assert result.looks == (look(2), look(3))
    assert writer.layout.plan.read_bytes() == before
    told = [event["event"] for event in result.events() if event["event"] != KEPT]
    assert told == ["blocks added"] * 2


def test_a_look_whose_blocks_a_crash_prevented_is_none(tmp_path: Path) -> None:
    writer = tiny_result(tmp_path, "r1")
    writer.layout.looks.write_text(look(2).model_dump_json() + "\n" + '{"version": 1, "ti')
    assert open_result(writer.layout.root).looks == ()
    again = look(2).model_copy(update={"time": 2.0})
    writer.add_blocks(again, further(2))
    assert open_result(writer.layout.root).looks == (again,)


def test_blocks_without_a_look_are_not_analysed(tmp_path: Path) -> None:
    writer = tiny_result(tmp_path, "r1")
    writer.add_blocks(look(2), further(2))
    writer.layout.looks.unlink()
    with pytest.raises(ResultError, match=r"lacks the look that led to `plan-2.json`") as raised:
        _ = open_result(writer.layout.root).looks
    assert raised.value.where == str(writer.layout.looks)
    assert raised.value.hint == shlex.join(["dunnage", "verify", str(writer.layout.root)])


def test_each_look_is_one_line_of_json(tmp_path: Path) -> None:
    writer = tiny_result(tmp_path, "r1")
    writer.add_blocks(look(2), further(2))
    (line,) = writer.layout.looks.read_text().splitlines()
    assert json.loads(line)["planned"] == 1


@pytest.mark.parametrize("number", [2, 3, 900])
def test_a_plan_that_a_whole_journal_does_not_know_is_named_and_left_out(
    tmp_path: Path, number: int
) -> None:
    writer = tiny_result(tmp_path, "r1")
    writer.journal(OPENED)
    if number > 2:
        writer.add_blocks(look(2), further(2))
    writer.layout.further_plan(number).write_text(further(9).model_dump_json())
    result = open_result(writer.layout.root)
    assert [run.id for run in result.plan.runs()] == ["r1", "r2"][: min(number - 1, 2)]
    assert result.looks == (look(2),) * (number > 2)
    found = [each for each in foundation(result) if each.file.startswith("plan-")]
    assert found == [Damage(file=f"plan-{number}.json", flaw=Flaw.UNLISTED)]


@pytest.mark.parametrize("lines", [ADDED, ""])
def test_a_plan_whose_addition_a_crash_kept_from_being_told_counts(
    tmp_path: Path, lines: str
) -> None:
    """A result of an older Dunnage has no checksum of it."""
    writer = tiny_result(tmp_path, "r1")
    writer.add_blocks(look(2), further(2))
    journal = writer.layout.journal
    kept = [line for line in journal.read_text().splitlines() if lines and lines not in line]
    journal.write_text("\n".join(kept or ['{"version": 1, "event": "opened"}']) + "\n")
    assert open_result(writer.layout.root).looks == (look(2),)


def test_where_the_journal_is_damaged_every_plan_counts_that_was_written_before_another(
    tmp_path: Path,
) -> None:
    writer = tiny_result(tmp_path, "r1")
    writer.add_blocks(look(2), further(2))
    writer.add_blocks(look(3), further(3))
    writer.layout.further_plan(2).unlink()
    writer.layout.journal.unlink()
    result = open_result(writer.layout.root)
    assert [path.name for path in result.further_plans] == ["plan-2.json", "plan-3.json"]
    assert result.stray_plans == ()
