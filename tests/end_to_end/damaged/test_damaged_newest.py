"""The newest of several results, one of which is damaged."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import NamedTuple

import pytest
from damages import told
from hostile import dunnage

from dunnage.errors import ExitCode
from dunnage.store.layout import ResultLayout


class Series(NamedTuple):
    """Two results of one study."""

    place: Path
    older: Path
    newest: Path


@pytest.fixture
def series(whole: Path, tmp_path: Path) -> Series:
    place = tmp_path / "results" / "whole"
    older, newest = place / whole.name, place / "9999-01-01T00-00-00Z-ffffff"
    for root in (older, newest):
        shutil.copytree(whole, root)
    return Series(place, older, newest)


def without_its_journal(root: Path) -> None:
    ResultLayout(root).journal.unlink()


def without_its_study(root: Path) -> None:
    ResultLayout(root).study.unlink()


def with_a_dead_link(root: Path) -> None:
    ResultLayout(root).plan.symlink_to("nowhere")


ALSO = {
    "nothing else": lambda _: None,
    "its journal": without_its_journal,
    "its study": without_its_study,
    "a link": with_a_dead_link,
}


@pytest.mark.parametrize("also", ALSO)
@pytest.mark.parametrize("above", ["of the study", "of all studies"])
def test_a_newest_result_that_lost_its_plan_is_not_passed_over(
    also: str, above: str, series: Series, tmp_path: Path, whole: Path
) -> None:
    ResultLayout(series.newest).plan.unlink()
    ALSO[also](series.newest)
    place = series.place if above == "of the study" else series.place.parent
    lost = f"{series.newest}/plan.json: is missing: this result cannot be read"
    mine = "STUDY" if also == "its study" else str(ResultLayout(series.newest).study)
    try_ = f"try: put back `plan.json` from a copy, or start a new result: dunnage run {mine}"
    for words in (
        ("report", place),
        ("status", place),
        ("export", place, "--to", tmp_path / "out"),
        ("compare", whole, place),
        ("run", "--resume", place),
    ):
        said = told(dunnage(*words), ExitCode.FAILED)
        assert f"{lost}; the result before it is {series.older}" in said
        assert try_ in said
    for result in (place, series.newest):
        said = told(dunnage("verify", result), ExitCode.DAMAGED)
        assert lost in said
        assert try_ in said
    told(dunnage("report", series.older), ExitCode.OK)


@pytest.mark.parametrize("lines", [0, 1, 2])
def test_a_result_that_a_crash_prevented_is_no_result(lines: int, series: Series) -> None:
    """It ends before the plan, of which the journal tells first."""
    layout = ResultLayout(series.newest)
    layout.plan.unlink()
    for directory in (layout.runs, layout.stays):
        shutil.rmtree(directory)
        directory.mkdir()
    kept = layout.journal.read_text().splitlines()[:lines]
    layout.journal.write_text("".join(f"{line}\n" for line in kept))
    said = told(dunnage("status", series.place), ExitCode.OK)
    assert str(series.older) in said
