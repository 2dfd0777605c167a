"""`--scale`: a quick try is planned, kept and answered as the smaller study that it is."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from command import Command

from dunnage.store.read import open_result

STUDY = Path(__file__).parents[3] / "studies" / "fake.yaml"


def test_a_quick_try_leaves_a_result_that_holds_the_smaller_study(
    dunnage: Command, tmp_path: Path
) -> None:
    shown = dunnage("run", STUDY, "--scale", "20%", "--results", tmp_path, "--format", "json")
    assert shown.code in (0, 5), shown.err
    json.loads(shown.out)
    result = open_result(tmp_path / "fake")
    assert result.study_text.startswith("# Made smaller for a quick try: --scale 0.2\n")
    assert 1 <= len(result.plan.blocks) < len(blocks(dunnage, STUDY))
    assert result.finished() == {run.id for run in result.plan.runs()}


def blocks(dunnage: Command, study: Path) -> list[object]:
    shown = dunnage("plan", study, "--format", "json")
    assert shown.code == 0
    found: list[object] = json.loads(shown.out)["plan"]["blocks"]
    return found


@pytest.mark.parametrize("verb", ["plan", "run"])
def test_a_share_that_makes_nothing_smaller_is_refused(dunnage: Command, verb: str) -> None:
    shown = dunnage(verb, STUDY, "--scale", "200%")
    assert shown.code == 2
    assert "`200%` does not make a study smaller" in shown.err
    assert "--scale 10%" in shown.err


def test_a_result_that_is_resumed_keeps_its_size(dunnage: Command, tmp_path: Path) -> None:
    shown = dunnage("run", "--resume", tmp_path, "--scale", "10%")
    assert shown.code == 2
    assert "is for a new result" in shown.err


def test_whoever_looks_at_a_quick_try_is_told_that_it_is_one(
    dunnage: Command, tmp_path: Path
) -> None:
    said = "made smaller (`--scale 20%`)"
    words = ("run", STUDY, "--scale", "20%", "--results")
    results = []
    for place in (tmp_path / "one", tmp_path / "other"):
        shown = dunnage(*words, place)
        assert said in " ".join(shown.out.split())
        results.append(open_result(place).layout.root)
    assert said in (results[0] / "report" / "index.html").read_text()
    for verb in (("report",), ("report", "--details"), ("status",)):
        assert said in " ".join(dunnage(*verb, results[0]).out.split())
    assert json.loads(dunnage("status", results[0], "--format", "json").out)["scale"] == 0.2
    assert dunnage("compare", *results).err.count(said) == 2


def test_a_whole_study_says_nothing_of_a_scale(dunnage: Command, tmp_path: Path) -> None:
    shown = dunnage("run", STUDY, "--only", "late", "--results", tmp_path)
    assert "made smaller" not in shown.out + shown.err
    assert "made smaller" not in dunnage("status", tmp_path).out
