"""Blocks are added to a finished study; secrets and spoilt results end in a command to type."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from command import Command, Shown
from measured import without_checksums

from dunnage.cli.shared import blocks
from dunnage.errors import ResultError
from dunnage.model.check import Status
from dunnage.model.record import Record
from dunnage.store.read import Result, open_result
from dunnage.store.write import ResultWriter, write_value

STUDY = """
dunnage: 1
name: growing
testbed: {kind: fake, hosts: {db: 3, client: 1}}
database: {kind: fake, topology: single}
deployments:
  plain: {platform: fake, network: plain}
  late: {platform: fake, network: late}
twin: plain
workloads: [A]
records: 100
load: {threads: [4], warmup: 0s, duration: 2s}
blocks: 6
generator: fake
sampler: {kind: fake}
questions:
  Q: {baseline: plain, against: [late]}
"""


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The root of a finished result; tests that change it copy it."""
    directory = tmp_path_factory.mktemp("growing")
    (directory / "study.yaml").write_text(STUDY)
    words = ["run", "study.yaml", "--results", "results"]
    command = [sys.executable, "-m", "dunnage", *words]
    subprocess.run(command, cwd=directory, check=True, capture_output=True, timeout=120)
    return open_result(directory / "results").layout.root


@pytest.fixture
def result(finished: Path, tmp_path: Path) -> Path:
    root = tmp_path / "result of mine"
    subprocess.run(["cp", "-a", str(finished), str(root)], check=True)
    return root


def answered(shown: Shown) -> Any:
    assert shown.code == 0, shown.err
    return json.loads(shown.out)


def of_question(answer: Any) -> Any:
    (found,) = answer["analysis"]["answers"][0]["comparisons"]
    return found["difference"]


def test_blocks_are_added_and_the_look_is_counted(dunnage: Command, result: Path) -> None:
    plan, before = (
        (result / "plan.json").read_bytes(),
        answered(dunnage("report", result, "--format", "json")),
    )
    after = answered(dunnage("run", "--resume", result, "--blocks", "+6", "--format", "json"))
    assert (result / "plan.json").read_bytes() == plan
    assert len(open_result(result).plan.blocks) == 12
    assert after["analysis"]["valid"] == after["analysis"]["planned"] == 36
    assert (of_question(before)["n"], of_question(before)["level"]) == (6, 0.95)
    assert of_question(after)["n"] == 12
    assert of_question(after)["level"] == pytest.approx(0.9875)
    assert "look 2 at 98.75 %" in of_question(after)["method"]
    (look,) = after["analysis"]["looks"]
    assert (look["complete"], look["planned"], look["added"]) == (6, 6, 6)
    assert len((result / "looks.jsonl").read_text().splitlines()) == 1
    page = Path(after["page"]).read_text()
    assert "This is look 2 at the study" in page
    assert "98.8 %" in dunnage("report", result, "--details").out
    assert "look 2" in dunnage("report", result).out


def test_a_total_can_be_given_and_an_addition_can_be_interrupted_and_resumed(
    dunnage: Command, result: Path
) -> None:
    assert dunnage("run", "--resume", result, "--blocks", "8").code == 0
    runs = [run.id for run in open_result(result).plan.runs()]
    assert len(runs) == 24
    for run in runs[-2:]:
        subprocess.run(["rm", "-r", str(result / "runs" / run)], check=True)
    assert dunnage("run", "--resume", result).code == 0
    assert open_result(result).finished() == set(runs)
    assert len(open_result(result).looks) == 1


def test_nobody_else_writes_between_adding_blocks_and_measuring_them(
    dunnage: Command, result: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    refused = []

    def meanwhile(*_: object) -> None:
        with pytest.raises(ResultError) as refusal, ResultWriter(result).held():
            raise AssertionError("unreachable: the first command holds the result")
        refused.append(str(refusal.value))

    monkeypatch.setattr(blocks, "say", meanwhile)
    assert dunnage("run", "--resume", result, "--blocks", "+1").code == 0
    assert refused
    assert all("another `dunnage run` is writing this result" in each for each in refused)


def test_blocks_that_are_added_again_before_they_are_measured_are_refused(
    dunnage: Command, result: Path
) -> None:
    assert dunnage("run", "--resume", result, "--blocks", "+2").code == 0
    last = [run.id for run in open_result(result).plan.runs()][-1]
    subprocess.run(["rm", "-r", str(result / "runs" / last)], check=True)
    before = size_of(result)
    shown = dunnage("run", "--resume", result, "--blocks", "+2")
    assert shown.code == 2
    told = " ".join(shown.err.split())
    assert "1 block of those added before must be measured first" in told
    assert f"try: dunnage run --resume {shlex.quote(str(result))}" in told
    assert size_of(result) == before
    assert dunnage("run", "--resume", result, "--blocks", "10").code == 0
    assert len(open_result(result).plan.blocks) == 10


def size_of(result: Path) -> tuple[bytes, list[str]]:
    """What says how many blocks there are."""
    return (result / "looks.jsonl").read_bytes(), sorted(map(str, result.glob("plan*.json")))


def test_blocks_can_be_added_before_anything_was_seen_and_cost_nothing(
    dunnage: Command, result: Path
) -> None:
    subprocess.run(["rm", "-r", str(result / "runs")], check=True)
    (result / "runs").mkdir()
    after = answered(dunnage("run", "--resume", result, "--blocks", "+1", "--format", "json"))
    assert of_question(after)["n"] == 7
    assert of_question(after)["level"] == 0.95
    (look,) = open_result(result).looks
    assert look.complete == 0


def test_a_look_counts_although_one_deployment_never_started(
    dunnage: Command, result: Path
) -> None:
    for path in (result / "runs").glob("*-late-*"):
        subprocess.run(["rm", "-r", str(path)], check=True)
    dunnage("run", "--resume", result, "--blocks", "+1")
    (look,) = open_result(result).looks
    assert look.complete == 6


def test_below_six_blocks_a_look_costs_nothing_up_to_the_number_of_the_study(
    dunnage: Command, tmp_path: Path
) -> None:
    (tmp_path / "study.yaml").write_text(STUDY)
    words = ("run", tmp_path / "study.yaml", "--results", tmp_path / "results", "--blocks", "2")
    assert "`--blocks +4`" in " ".join(dunnage(*words).out.split())
    root = open_result(tmp_path / "results").layout.root
    shown = dunnage("run", "--resume", root, "--blocks", "+4", "--format", "json")
    assert "wider" not in shown.err
    assert of_question(answered(shown))["level"] == 0.95
    (look,) = open_result(root).looks
    assert (look.complete, look.free) == (2, True)
    more = dunnage("run", "--resume", root, "--blocks", "+6", "--format", "json")
    assert "the intervals of the next look are wider" in more.err
    assert of_question(answered(more))["level"] == pytest.approx(0.9875)


def test_below_six_blocks_a_look_costs_where_its_values_may_have_chosen_the_number(
    dunnage: Command, tmp_path: Path
) -> None:
    (tmp_path / "study.yaml").write_text(STUDY)
    words = ("run", tmp_path / "study.yaml", "--results", tmp_path / "results", "--blocks", "2")
    assert dunnage(*words).code == 0
    root = open_result(tmp_path / "results").layout.root
    after = answered(dunnage("run", "--resume", root, "--blocks", "8", "--format", "json"))
    assert of_question(after)["level"] == pytest.approx(0.9875)


def test_a_new_study_can_have_other_blocks_than_its_file(dunnage: Command, tmp_path: Path) -> None:
    (tmp_path / "study.yaml").write_text(STUDY)
    words = ("run", tmp_path / "study.yaml", "--results", tmp_path / "results", "--blocks", "2")
    answered(dunnage(*words, "--format", "json"))
    result = open_result(tmp_path / "results")
    assert len(result.plan.blocks) == 2
    assert result.looks == ()


@pytest.mark.parametrize(
    ("blocks", "told"),
    [
        ("6", "has 6 blocks already"),
        ("0", "is not a number of blocks"),
        ("+0", "is not a number of blocks"),
        ("many", "is not a number of blocks"),
        ("+9999", "more than a study may have"),
    ],
)
def test_what_adds_no_blocks_is_refused(
    dunnage: Command, finished: Path, blocks: str, told: str
) -> None:
    shown = dunnage("run", "--resume", finished, "--blocks", blocks)
    assert shown.code == 2
    assert told in shown.err
    assert not (finished / "looks.jsonl").exists()


def test_adding_to_no_result_says_how(dunnage: Command, tmp_path: Path) -> None:
    (tmp_path / "study.yaml").write_text(STUDY)
    shown = dunnage("run", tmp_path / "study.yaml", "--blocks", "+6")
    assert shown.code == 2
    assert "--resume" in shown.err


def test_a_finished_result_has_nothing_to_resume_and_starts_nothing(
    dunnage: Command, finished: Path
) -> None:
    journal = (finished / "journal.jsonl").read_bytes()
    shown = dunnage("run", "--resume", finished)
    assert shown.code == 0
    assert "nothing to resume" in shown.err
    assert (finished / "journal.jsonl").read_bytes() == journal


def spoil(result: Result, blocks: int) -> None:
    without_checksums(result.layout.root)
    for record in result.records:
        if record.block <= blocks:
            spoilt: Record = record.model_copy(update={"status": Status.INVALID})
            write_value(result.layout.record(record.run), spoilt)


def test_a_result_of_invalid_runs_says_what_to_do_next(dunnage: Command, result: Path) -> None:
    spoil(open_result(result), blocks=6)
    for verb in (("report",), ("run", "--resume")):
        shown = dunnage(*verb, result)
        assert shown.code == 5
        more = re.search(r"more blocks: dunnage (.*)", shown.err)
        again = re.search(r"or start a new result: dunnage (.*)", shown.err)
        assert more is not None and again is not None
        assert shlex.split(more[1]) == ["run", "--resume", str(result), "--blocks", "+6"]
        assert shlex.split(again[1]) == ["run", str(result / "study.yaml")]
    assert more is not None
    grown = dunnage(*shlex.split(more[1]))
    assert grown.code == 5  # half of all runs stay invalid: they stay in the count
    analysis = json.loads((result / "analysis.json").read_text())
    assert analysis["answers"][0]["complete_blocks"] == 6
    assert analysis["looks"][0]["complete"] == 0
    assert analysis["comparisons"][0]["difference"]["level"] == 0.95


def test_where_nothing_was_compared_there_is_no_number(dunnage: Command, result: Path) -> None:
    spoil(open_result(result), blocks=6)
    shown = json.loads(dunnage("report", result, "--format", "json").out)
    stored = json.loads((result / "analysis.json").read_text())
    for analysis in (shown["analysis"], stored):
        for comparison in analysis["comparisons"]:
            assert comparison["difference"]["n"] == 0
            assert comparison["difference"]["value"] is None


def test_a_study_whose_secret_was_masked_cannot_be_resumed(dunnage: Command, result: Path) -> None:
    without_checksums(result)
    study = result / "study.yaml"
    study.write_text(
        STUDY.replace("topology: single", 'topology: single, settings: {password: "•••"}')
    )
    before = sorted(path.name for path in result.iterdir())
    for words in ((), ("--blocks", "+6")):
        shown = dunnage("run", "--resume", result, *words)
        assert shown.code == 4
        assert "a secret is masked here" in shown.err
        assert f"{study}, line 5" in shown.err
        assert "try: dunnage run STUDY" in shown.err
    assert sorted(path.name for path in result.iterdir()) == before


def test_blocks_of_another_dunnage_are_refused_before_a_look_is_spent(
    dunnage: Command, result: Path
) -> None:
    without_checksums(result)
    path = result / "environment.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"dunnage.version": "0.0.1"}))
    shown = dunnage("run", "--resume", result, "--blocks", "+6")
    assert shown.code == 4
    assert "dunnage.version: 0.0.1 → " in shown.err
    assert not (result / "looks.jsonl").exists()
    assert not (result / "plan-2.json").exists()
