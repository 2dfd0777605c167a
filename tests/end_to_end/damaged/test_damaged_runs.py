"""Results with damaged files of a run: it alone is spoilt, and what each verb says of it."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from damages import FATAL, OF_A_RUN, RUNS, Spot, journal, study, told, without_checksums
from hostile import dunnage

from dunnage.errors import ExitCode

ONE_OF_EACH = (
    "record missing",
    "record garbled",
    "load truncated",
    "samples edited",
    "samples are endless",
    "stay missing",
)
"""Of these, one of each kind of file and of each way in which it cannot be used."""


def test_a_whole_result_is_verified(whole: Path) -> None:
    said = told(dunnage("verify", whole), ExitCode.OK)
    assert "none damaged" in said
    document = json.loads(dunnage("verify", whole, "--format", "json").out)
    assert document["files"] > 3 * RUNS
    assert (document["unlisted"], document["damages"]) == (0, [])


@pytest.mark.parametrize("name", OF_A_RUN)
def test_damage_spoils_its_run_only_and_is_named(name: str, spot: Spot) -> None:
    change, meaning = OF_A_RUN[name]
    file = str(change(spot).relative_to(spot.root))

    said = told(dunnage("verify", spot.root), ExitCode.DAMAGED)
    assert f"{file}: " in said
    assert meaning in said
    assert "1 run cannot be used" in said

    shown = dunnage("report", spot.root, "--format", "json")
    told(shown, ExitCode.UNTRUSTWORTHY)
    analysis = json.loads(shown.out)["analysis"]
    assert (analysis["valid"], analysis["unknown"], analysis["missing"]) == (RUNS - 1, 1, 0)
    (run,) = (run for run in analysis["runs"] if run["status"] != "valid")
    assert run["run"] == spot.run
    assert [damage["file"] for damage in analysis["damages"]] == [file]

    status = json.loads(dunnage("status", spot.root, "--format", "json").out)
    gone = not spot.record.exists()
    assert (status["valid"], status["unknown"]) == (RUNS - 1, 0 if gone else 1)
    assert status["missing"] == [spot.run] * gone
    assert status["damaged"] == analysis["damages"]


@pytest.mark.parametrize("name", ONE_OF_EACH)
def test_every_verb_tells_of_damage_in_its_words(name: str, spot: Spot, later: Path) -> None:
    file = str(OF_A_RUN[name][0](spot).relative_to(spot.root))
    gone = not spot.record.exists()

    said = told(dunnage("report", spot.root), ExitCode.UNTRUSTWORTHY)
    assert "1 file of this result is damaged, so 1 run cannot be used" in said
    assert file.rpartition("/")[2] in (spot.root / "report" / "index.html").read_text()

    said = told(dunnage("status", spot.root), ExitCode.OK)
    assert "so 1 run cannot be used" in said
    onward = f"run --resume {spot.root}" if gone else f"verify {spot.root}"
    assert f"next: dunnage {onward}\n" in said
    out = spot.root.parent / "out"
    said = told(dunnage("export", spot.root, "--to", out), ExitCode.UNTRUSTWORTHY)
    assert "so 1 run cannot be used" in said
    assert f"only {RUNS - 1} of {RUNS} runs are valid; " in said
    shown = dunnage("compare", later, spot.root, "--anyway")
    said = told(shown, ExitCode.OK, ExitCode.UNTRUSTWORTHY, ExitCode.INCOMPARABLE)
    assert f"{spot.root}: 1 file of this result is damaged" in said


def test_status_and_report_agree_when_all_stays_are_gone(spot: Spot) -> None:
    shutil.rmtree(spot.root / "stays")
    said = told(dunnage("status", spot.root), ExitCode.OK)
    assert f"so {RUNS} runs cannot be used" in " ".join(said.split())
    assert f"next: dunnage verify {spot.root}\n" in said
    status = json.loads(dunnage("status", spot.root, "--format", "json").out)
    analysis = json.loads(dunnage("report", spot.root, "--format", "json").out)["analysis"]
    for counted in ("valid", "invalid", "unknown"):
        assert status[counted] == analysis[counted]
    assert status["unknown"] == RUNS


def test_status_counts_runs_as_the_report_does_where_parity_found_something(spot: Spot) -> None:
    """A stay that ran something else spoils its runs, whatever their own gates say."""
    without_checksums(spot)
    stay = json.loads(spot.stay.read_text())
    stay["facts"]["version"] = "another"
    spot.stay.write_text(json.dumps(stay))
    status = json.loads(dunnage("status", spot.root, "--format", "json").out)
    analysis = json.loads(dunnage("report", spot.root, "--format", "json").out)["analysis"]
    assert status["invalid"] == analysis["invalid"] > 0
    assert "parity: " in told(dunnage("status", spot.root), ExitCode.OK)


@pytest.mark.parametrize("older", [False, True], ids=["of today", "older"])
def test_status_needs_no_study(older: bool, spot: Spot) -> None:
    if older:
        without_checksums(spot)
    study(spot).unlink()
    said = told(dunnage("status", spot.root), ExitCode.OK)
    assert f"{RUNS} of {RUNS} runs done" in said
    assert f"next: dunnage verify {spot.root}\n" in said


@pytest.mark.parametrize("name", ["plan truncated", "plan garbled"])
def test_verify_calls_what_cannot_be_read_damaged(name: str, spot: Spot) -> None:
    change, _ = FATAL[name]
    change(spot)
    said = told(dunnage("verify", spot.root), ExitCode.DAMAGED)
    assert f"dunnage run {spot.root}/study.yaml" in said


def test_of_many_damaged_files_some_are_named_where_nobody_asked_for_all(spot: Spot) -> None:
    lines = journal(spot).read_text().splitlines()
    journal(spot).write_text("".join(f"{line}\n" for line in lines if '"runs/' not in line))
    listed = told(dunnage("verify", spot.root), ExitCode.DAMAGED).count("not written by this study")
    said = told(dunnage("run", "--resume", spot.root), ExitCode.UNTRUSTWORTHY)
    assert said.count("it was not written by this study") == 5 < listed
    assert f"and {listed - 5} more files: `dunnage verify` lists them\n" in said
