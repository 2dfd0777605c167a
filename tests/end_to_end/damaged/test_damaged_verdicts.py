"""Verdicts of damaged results: none by a file that was changed."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from pathlib import Path

import pytest
import tried
from damages import (
    OF_THE_WHOLE,
    SINGLE,
    Change,
    Spot,
    carried_out,
    garbled,
    record,
    removed,
    replaced,
    samples,
    study,
    told,
)
from hostile import Shown, dunnage

from dunnage.errors import ExitCode

DECIDING = tried.changed(
    ("hosts: {db: 3,", "hosts: {db: 1,"), ("topology: sharded, members: 3", SINGLE)
)


@pytest.fixture(scope="module")
def decided(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A result as it was written, whose question has a verdict."""
    return carried_out(DECIDING, tmp_path_factory.mktemp("decided"))


@pytest.fixture(scope="module")
def decided_later(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Another result of the same study."""
    return carried_out(DECIDING, tmp_path_factory.mktemp("decided-later"))


UNDECIDED: Mapping[str, Change] = {
    "study changed": replaced(study, "tolerance: 3%", "tolerance: 30%"),
    "plan changed": OF_THE_WHOLE["plan changed"][0],
    "journal garbled": OF_THE_WHOLE["journal garbled"][0],
    "journal missing": OF_THE_WHOLE["journal missing"][0],
}


def grounds(shown: Shown) -> list[tuple[str, str]]:
    """Verdict and ground of everything that an answer compares."""
    analysis = json.loads(shown.out)["analysis"]
    asked = (found for answer in analysis["answers"] for found in answer["comparisons"])
    every = [*asked, *analysis["comparisons"], *analysis["twin"]]
    assert all(found["difference"]["low"] is not None for found in every)
    return [(found["verdict"], found["ground"]) for found in every]


@pytest.mark.parametrize("name", UNDECIDED)
def test_no_verdict_is_given_by_a_file_that_was_changed(
    name: str, decided: Path, decided_later: Path, tmp_path: Path
) -> None:
    report = dunnage("report", decided, "--format", "json")
    claimed = {verdict for verdict, _ in grounds(report)} - {"inconclusive"}
    assert claimed
    root = tmp_path / decided.name
    shutil.copytree(decided, root)
    UNDECIDED[name](Spot(root, ""))

    found = grounds(dunnage("report", root, "--format", "json"))
    assert set(found) == {("inconclusive", "damaged")}
    for options in ((), ("--details",)):
        said = " ".join(told(dunnage("report", root, *options), ExitCode.UNTRUSTWORTHY).split())
        assert "is not claimed: a file that verdicts come from" in said
        assert not any(f" {verdict} " in said for verdict in claimed)
    page = (root / "report" / "index.html").read_text()
    assert not any(f'class="verdict {verdict}"' in page for verdict in claimed)
    exported = dunnage("export", root, "--to", tmp_path / "out", "--as", "csv,latex")
    told(exported, ExitCode.UNTRUSTWORTHY)
    for place in (tmp_path / "out" / "csv", root / "report"):
        rows = (place / "answers.csv").read_text()
        assert "inconclusive" in rows
        assert not any(f",{verdict}," in rows for verdict in claimed)
    for pair in ((decided_later, root), (root, decided_later)):
        shown = dunnage("compare", *pair, "--anyway", "--format", "json")
        told(shown, ExitCode.UNTRUSTWORTHY)
        changes = json.loads(shown.out)["changes"]
        assert {each["ground"] for each in changes if each["gate"]} == {"damaged"}


@pytest.mark.parametrize("change", [removed(record), garbled(samples)])
def test_a_damaged_run_is_no_success_however_many_are_left(
    change: Change, decided: Path, tmp_path: Path
) -> None:
    """Nine in ten runs and more are valid, but nobody chose that one is lost."""
    root = tmp_path / decided.name
    shutil.copytree(decided, root)
    change(Spot(root, sorted(path.name for path in (root / "runs").iterdir())[3]))
    shown = dunnage("report", root, "--format", "json")
    told(shown, ExitCode.UNTRUSTWORTHY)
    analysis = json.loads(shown.out)["analysis"]
    assert 0.9 * analysis["planned"] <= analysis["valid"] < analysis["planned"]
    assert "measure the runs again" in told(dunnage("report", root), ExitCode.UNTRUSTWORTHY)


def test_a_damage_that_touches_no_verdict_leaves_them(decided: Path, tmp_path: Path) -> None:
    root = tmp_path / decided.name
    shutil.copytree(decided, root)
    OF_THE_WHOLE["environment changed"][0](Spot(root, ""))
    report = dunnage("report", decided, "--format", "json")
    assert grounds(dunnage("report", root, "--format", "json")) == grounds(report)
