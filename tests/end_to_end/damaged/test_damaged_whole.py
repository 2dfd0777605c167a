"""Results with damaged files of the whole: plans, looks, facts and capacities."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
import tried
from damages import (
    FATAL,
    ODD_FACTS,
    OF_THE_WHOLE,
    RUNS,
    Spot,
    emptied,
    environment,
    journal,
    plan,
    replaced,
    study,
    told,
    without_checksums,
)
from hostile import dunnage

from dunnage.errors import ExitCode
from dunnage.store.read import open_result


@pytest.mark.parametrize("name", OF_THE_WHOLE)
def test_damage_of_the_whole_is_said_and_costs_no_run(name: str, spot: Spot) -> None:
    change, meaning = OF_THE_WHOLE[name]
    change(spot)
    said = told(dunnage("verify", spot.root), ExitCode.DAMAGED)
    assert meaning in said
    shown = dunnage("report", spot.root, "--format", "json")
    told(shown, ExitCode.UNTRUSTWORTHY)
    answer = json.loads(shown.out)
    assert answer["analysis"]["valid"] == RUNS
    assert meaning in answer["damage"]
    said = told(dunnage("report", spot.root), ExitCode.UNTRUSTWORTHY)
    assert "1 file of this result is damaged;" in said
    assert meaning in " ".join(said.split())
    assert "Advice" not in said
    assert meaning in (spot.root / "report" / "index.html").read_text()
    assert meaning in told(dunnage("status", spot.root), ExitCode.OK)
    document = json.loads(dunnage("status", spot.root, "--format", "json").out)
    file = meaning.partition(":")[0]
    assert [found["file"] for found in document["damaged"]] == [file]
    out = spot.root.parent / "out"
    said = told(dunnage("export", spot.root, "--to", out), ExitCode.UNTRUSTWORTHY, ExitCode.FAILED)
    assert f"{file}: " in said  # a journal that cannot be read cannot be exported either


@pytest.mark.parametrize("name", ["study changed", "plan changed", "environment changed"])
def test_what_was_perhaps_not_asked_is_said_before_any_answer(name: str, spot: Spot) -> None:
    change, _ = OF_THE_WHOLE[name]
    file = change(spot).name
    first, question, _ = dunnage("report", spot.root).out.partition("Q1")
    assert question
    assert f"{file}: it was changed after it was written, so " in " ".join(first.split())


@pytest.mark.parametrize("name", FATAL)
def test_what_no_result_can_be_read_without_is_named(name: str, spot: Spot) -> None:
    change, meaning = FATAL[name]
    file = change(spot).name
    said = told(dunnage("report", spot.root), ExitCode.FAILED)
    assert meaning in said
    needed = f"try: put back `{file}` from a copy, or start a new result: dunnage run "
    assert (needed in said) == (file != "environment.json")


def test_a_plan_of_a_newer_dunnage_need_not_be_put_back(spot: Spot) -> None:
    replaced(plan, '"version": ', '"version": 9')(spot)
    said = told(dunnage("report", spot.root), ExitCode.FAILED)
    assert "was written by a newer Dunnage" in said
    assert f"try: dunnage verify {spot.root}\n" in said
    said = told(dunnage("verify", spot.root), ExitCode.DAMAGED)
    assert f"try: dunnage run {study(spot)}\n" in said


@pytest.mark.parametrize("what", ["stays", "runs"])
def test_facts_that_are_gone_are_missed_without_the_journal(what: str, spot: Spot) -> None:
    """What is there was written after them."""
    emptied(journal)(spot)
    environment(spot).unlink()
    other = "runs" if what == "stays" else "stays"
    shutil.rmtree(spot.root / other)
    (spot.root / other).mkdir()
    said = told(dunnage("verify", spot.root), ExitCode.DAMAGED)
    assert "environment.json: it is missing" in said
    assert "put back `journal.jsonl`, `environment.json` from a copy" in said


def test_looks_and_plans_that_are_gone_are_missed_without_the_journal(spot: Spot) -> None:
    for _ in range(2):
        told(dunnage("run", "--resume", spot.root, "--blocks", "+1"), ExitCode.OK)
    emptied(journal)(spot)
    (spot.root / "looks.jsonl").unlink()
    said = told(dunnage("verify", spot.root), ExitCode.DAMAGED)
    assert "looks.jsonl: it is missing" in said
    (spot.root / "plan-2.json").unlink()
    assert "plan-2.json" in told(dunnage("verify", spot.root), ExitCode.DAMAGED)


def test_a_capacity_that_is_gone_is_missed_without_the_journal(tmp_path: Path) -> None:
    text = tried.changed(("rate: [2000]", "rate: [60%]"), ("blocks: 6", "blocks: 1"))
    (tmp_path / "study.yaml").write_text(text)
    words = ("run", tmp_path / "study.yaml", "--results", tmp_path / "results")
    told(dunnage(*words), ExitCode.OK, ExitCode.UNTRUSTWORTHY)
    layout = open_result(tmp_path / "results").layout
    layout.journal.write_bytes(b"")
    layout.calibration.unlink()
    said = told(dunnage("verify", layout.root), ExitCode.DAMAGED)
    assert "calibration.json: it is missing" in said
    shutil.rmtree(layout.runs)
    layout.runs.mkdir()
    assert "calibration.json" not in told(dunnage("verify", layout.root), ExitCode.DAMAGED)


def test_a_removed_plan_of_added_blocks_is_not_forgotten(spot: Spot) -> None:
    """Without it the look that it cost would come back."""
    told(dunnage("run", "--resume", spot.root, "--blocks", "+1"), ExitCode.OK)
    (spot.root / "plan-2.json").unlink()
    said = told(dunnage("report", spot.root), ExitCode.FAILED)
    assert "plan-2.json: is missing" in said


def test_looks_that_were_changed_are_noticed(spot: Spot) -> None:
    told(dunnage("run", "--resume", spot.root, "--blocks", "+1"), ExitCode.OK)
    looks = spot.root / "looks.jsonl"
    looks.write_text(looks.read_text().replace('"complete":3', '"complete":0'))
    assert "looks.jsonl: it was changed" in told(dunnage("verify", spot.root), ExitCode.DAMAGED)


ONE_PER_MEANING = {meaning: facts for facts, meaning in ODD_FACTS.items()}.values()
"""Those of which every verb is asked; of the others, those that tell of no run."""


@pytest.mark.parametrize("older", [False, True], ids=["of today", "older"])
@pytest.mark.parametrize("facts", ODD_FACTS)
def test_odd_facts_of_the_machine_are_said_alike_by_all_that_read_them(
    facts: str, older: bool, spot: Spot, later: Path
) -> None:
    environment(spot).write_text(facts)
    if older:
        without_checksums(spot)
    seen = not older or ODD_FACTS[facts] != ODD_FACTS["{}"]
    code = ExitCode.UNTRUSTWORTHY if seen else ExitCode.OK
    out = spot.root.parent / "out"
    every = (
        (("verify", spot.root), ExitCode.DAMAGED if seen else ExitCode.OK),
        (("status", spot.root), ExitCode.OK),
        (("report", spot.root), code),
        (("export", spot.root, "--to", out), code),
        (("compare", later, spot.root), ExitCode.INCOMPARABLE),
    )
    for words, expected in every if facts in ONE_PER_MEANING else every[:2]:
        said = " ".join(told(dunnage(*words), expected).split())
        assert (f"environment.json: {ODD_FACTS[facts]}" in said) is seen, words
