"""Damaged results that go on: what is measured again, and what is refused."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
import tried
from damages import (
    ODD_FACTS,
    OF_A_RUN,
    RUNS,
    VERSION,
    Change,
    Spot,
    emptied,
    environment,
    garbled,
    journal,
    plan,
    removed,
    replaced,
    samples,
    study,
    told,
    truncated,
    without_checksums,
    without_line,
)
from hostile import dunnage

from dunnage.errors import ExitCode
from dunnage.store.events import ADDED
from dunnage.store.layout import ResultLayout
from dunnage.store.read import Result, open_result
from dunnage.store.whole import Examined, Holds, examine
from dunnage.store.write import ResultWriter


@pytest.mark.parametrize("name", OF_A_RUN)
def test_a_damaged_result_is_resumed_without_losing_what_is_whole(name: str, spot: Spot) -> None:
    change, _ = OF_A_RUN[name]
    change(spot)
    said = told(dunnage("run", "--resume", spot.root), ExitCode.OK, ExitCode.UNTRUSTWORTHY)
    if name != "record missing":
        assert "is damaged, so 1 run cannot be used" in said
        assert f"rm -r {spot.record.parent} && dunnage run --resume {spot.root}" in said
    records = open_result(spot.root).records
    assert len(records) >= RUNS - 1
    assert {record.run for record in records} | {spot.run} == {
        path.name for path in (spot.root / "runs").iterdir()
    }


NOT_RESUMED: Mapping[str, Change] = {
    "study changed": replaced(study, "warmup: 1s", "warmup: 2s"),
    "connections changed": replaced(study, "connections: 16", "connections: 8"),
    "study missing": removed(study),
    "plan changed": replaced(plan, '"seed"', ' "seed"'),
    "environment missing": removed(environment),
    "environment changed": replaced(environment, "dunnage", "another"),
    "journal garbled": garbled(journal),
    "journal emptied": emptied(journal),
}


@pytest.mark.parametrize("more", [(), ("--blocks", "+1")], ids=["as planned", "more blocks"])
@pytest.mark.parametrize("name", NOT_RESUMED)
def test_what_was_changed_is_never_mixed_with_what_was_measured(
    name: str, more: Sequence[str], spot: Spot
) -> None:
    spot.record.unlink()
    file = NOT_RESUMED[name](spot)
    before = {path: path.stat().st_mtime_ns for path in spot.root.rglob("*")}
    said = told(dunnage("run", "--resume", spot.root, *more), ExitCode.FAILED)
    assert f"{file}: " in said
    assert "so this result cannot be resumed" in said
    assert re.search(r"try: (put back `.*` as it was, or start a new result: )?dunnage ", said)
    assert {path: path.stat().st_mtime_ns for path in spot.root.rglob("*")} == before


def test_a_capacity_that_was_changed_is_not_taken(tmp_path: Path) -> None:
    text = tried.changed(("rate: [2000]", "rate: [60%]"), ("blocks: 6", "blocks: 1"))
    (tmp_path / "study.yaml").write_text(text)
    words = ("run", tmp_path / "study.yaml", "--results", tmp_path / "results")
    told(dunnage(*words), ExitCode.OK, ExitCode.UNTRUSTWORTHY)
    root = open_result(tmp_path / "results").layout.root
    path = ResultLayout(root).calibration
    path.write_text(path.read_text().replace("{", "{ ", 1))
    said = told(dunnage(*words, "--rates-of", root), ExitCode.USAGE)
    assert "its capacity cannot be taken: calibration.json: it was changed" in said


def test_lost_runs_need_one_command_that_works(spot: Spot) -> None:
    shutil.rmtree(spot.root / "runs")
    (spot.root / "runs").mkdir()
    said = told(dunnage("verify", spot.root), ExitCode.DAMAGED)
    assert "rm -r" not in said
    assert said.count(f"dunnage run --resume {spot.root}") == 1
    told(dunnage("run", "--resume", spot.root), ExitCode.OK)
    told(dunnage("verify", spot.root), ExitCode.OK)


@pytest.mark.parametrize("gone", [("runs",), ("runs", "stays")])
def test_directories_that_somebody_removed_are_made_again(gone: Sequence[str], spot: Spot) -> None:
    for name in gone:
        shutil.rmtree(spot.root / name)
    said = told(dunnage("verify", spot.root), ExitCode.DAMAGED)
    assert f"measure what is lost again: dunnage run --resume {spot.root}\n" in said
    told(dunnage("run", "--resume", spot.root), ExitCode.OK)
    told(dunnage("verify", spot.root), ExitCode.OK)


@pytest.mark.parametrize("what", ["a run", "all runs"])
def test_what_is_no_directory_of_a_run_is_named_and_removed(what: str, spot: Spot) -> None:
    place = spot.record.parent if what == "a run" else spot.root / "runs"
    shutil.rmtree(place)
    place.write_text("hi\n")
    said = told(dunnage("verify", spot.root), ExitCode.DAMAGED)
    name = place.relative_to(spot.root)
    assert f"{name}: it cannot be read (this is no directory)\n" in said
    assert "record.json" not in said
    removing = f"rm -r {place}"
    assert f"lost again: {removing} && dunnage run --resume {spot.root}\n" in said
    said = told(dunnage("status", spot.root), ExitCode.OK)
    assert f"next: dunnage verify {spot.root}\n" in said
    subprocess.run(removing.split(), check=True)
    told(dunnage("run", "--resume", spot.root), ExitCode.OK)
    assert "none damaged" in told(dunnage("verify", spot.root), ExitCode.OK)


def test_runs_of_damaged_files_are_measured_again_before_blocks_are_added(spot: Spot) -> None:
    """Adding blocks is a look; measuring the same run again is none."""
    truncated(samples)(spot)
    for verb in ("verify", "report"):
        shown = dunnage(verb, spot.root)
        said = told(shown, ExitCode.DAMAGED, ExitCode.UNTRUSTWORTHY, ExitCode.OK)
        assert "--blocks" not in said
        assert f"rm -r {spot.record.parent} && dunnage run --resume {spot.root}" in said
    shutil.rmtree(spot.record.parent)
    told(dunnage("run", "--resume", spot.root), ExitCode.OK)
    told(dunnage("verify", spot.root), ExitCode.OK)


def test_hints_lead_to_no_circle(spot: Spot) -> None:
    text = study(spot).read_text()
    study(spot).unlink()
    said = told(dunnage("report", spot.root), ExitCode.FAILED)
    anew = "or start a new result: dunnage run STUDY  # STUDY is the study file\n"
    assert f"try: put back `study.yaml` from a copy, {anew}" in said
    said = told(dunnage("verify", spot.root), ExitCode.DAMAGED)
    assert f"put back `study.yaml` from a copy, {anew}" in said
    said = told(dunnage("run", "--resume", spot.root), ExitCode.FAILED)
    assert f"try: put back `study.yaml` as it was, {anew}" in said
    study(spot).write_text(text.replace("blocks: 3", "blocks: no"))
    assert f"try: dunnage verify {spot.root}" in told(dunnage("report", spot.root), ExitCode.USAGE)
    said = told(dunnage("verify", spot.root), ExitCode.DAMAGED)
    assert f"put back `study.yaml` from a copy, {anew}" in said
    assert f"dunnage run {study(spot)}" not in said
    study(spot).write_text(text)
    told(dunnage("verify", spot.root), ExitCode.OK)


def test_a_result_that_is_being_written_is_not_to_be_resumed(spot: Spot) -> None:
    spot.record.unlink()
    with ResultWriter(spot.root).held():
        said = told(dunnage("status", spot.root), ExitCode.OK)
        document = json.loads(dunnage("status", spot.root, "--format", "json").out)
        assert document["running"]
        assert "a study is writing this result" in said
        assert "--resume" not in said
    assert not json.loads(dunnage("status", spot.root, "--format", "json").out)["running"]


@pytest.mark.parametrize("older", [False, True], ids=["of today", "older"])
@pytest.mark.parametrize("facts", ["[]", '{"kernel": '])
def test_a_study_does_not_go_on_under_facts_that_cannot_be_read(
    facts: str, older: bool, spot: Spot
) -> None:
    spot.record.unlink()
    environment(spot).write_text(facts)
    if older:
        without_checksums(spot)
    said = told(dunnage("run", "--resume", spot.root), ExitCode.FAILED)
    assert f"environment.json: {ODD_FACTS[facts]}, so this result cannot be resumed" in said
    anew = f"or start a new result: dunnage run {study(spot)}\n"
    assert f"try: put back `environment.json` as it was, {anew}" in said


def test_a_run_directory_that_is_a_link_is_never_emptied(spot: Spot, tmp_path: Path) -> None:
    treasure = tmp_path / "treasure"
    treasure.mkdir()
    (treasure / "letter").write_text("dear")
    shutil.rmtree(spot.record.parent)
    spot.record.parent.symlink_to(treasure)
    said = told(dunnage("run", "--resume", spot.root), ExitCode.FAILED)
    assert "this is a link" in said
    assert (treasure / "letter").read_text() == "dear"


def test_lost_looks_are_not_replaced_by_new_ones(spot: Spot) -> None:
    told(dunnage("run", "--resume", spot.root, "--blocks", "+1"), ExitCode.OK)
    (spot.root / "looks.jsonl").unlink()
    said = told(dunnage("run", "--resume", spot.root, "--blocks", "+1"), ExitCode.FAILED)
    assert "lacks the look" in said
    assert not (spot.root / "plan-3.json").exists()
    told(dunnage("verify", spot.root), ExitCode.DAMAGED)


def test_no_study_is_carried_out_inside_a_result(spot: Spot, tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to(spot.root / "stays")
    before = sorted(spot.root.rglob("*"))
    for place in (spot.root, spot.root / "stays", link, spot.root / "new"):
        said = told(dunnage("run", study(spot), "--results", place), ExitCode.USAGE)
        assert "this is inside the result" in said
        assert f"--results {shlex.quote(str(spot.root.parent))}" in said
    assert sorted(spot.root.rglob("*")) == before


def test_what_verify_advises_removes_a_link_in_the_place_of_a_run(spot: Spot) -> None:
    shutil.rmtree(spot.record.parent)
    spot.record.parent.symlink_to(spot.run)  # to itself
    said = told(dunnage("verify", spot.root), ExitCode.DAMAGED)
    removing = f"rm -r {spot.record.parent}"
    assert f"{removing} && dunnage run --resume {spot.root}" in said
    subprocess.run(removing.split(), check=True)
    told(dunnage("run", "--resume", spot.root), ExitCode.OK)
    assert "none damaged" in told(dunnage("verify", spot.root), ExitCode.OK)


def test_a_result_that_is_complete_is_examined_once_when_it_is_resumed(
    spot: Spot, monkeypatch: pytest.MonkeyPatch
) -> None:
    examined: list[Result] = []

    def counted(result: Result, holds: Holds) -> Examined:
        examined.append(result)
        return examine(result, holds)

    monkeypatch.setattr("dunnage.opened.examine", counted)
    told(dunnage("run", "--resume", spot.root), ExitCode.OK)
    assert len(examined) == 1


def test_a_crash_before_the_line_of_added_blocks_is_made_good(
    spot: Spot, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = ResultWriter.journal

    def killed(self: ResultWriter, event: str, **details: Any) -> None:
        if event == ADDED:
            raise KeyboardInterrupt
        said(self, event, **details)

    with monkeypatch.context() as patch:
        patch.setattr(ResultWriter, "journal", killed)
        told(dunnage("run", "--resume", spot.root, "--blocks", "+1"), ExitCode.INTERRUPTED)
    assert (spot.root / "plan-2.json").is_file()
    assert "blocks added" not in journal(spot).read_text()
    assert "none damaged" in told(dunnage("verify", spot.root), ExitCode.OK)
    told(dunnage("run", "--resume", spot.root), ExitCode.OK)
    assert journal(spot).read_text().count('"blocks added", "plan": 2, "blocks": 1}') == 1
    assert "none damaged" in told(dunnage("verify", spot.root), ExitCode.OK)


def test_an_older_dunnage_did_not_make_it_good(spot: Spot) -> None:
    told(dunnage("run", "--resume", spot.root, "--blocks", "+1"), ExitCode.OK)
    without_line(spot, "blocks added", 0)
    journal(spot).write_text(journal(spot).read_text().replace(VERSION, '"version": 2'))
    assert "none damaged" in told(dunnage("verify", spot.root), ExitCode.OK)
