"""A shell stands in a directory that was removed: what begins there is refused, the rest works."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from command import Command
from measured import STUDY, measured

from dunnage import lab_tool

GONE = "dunnage: the directory this shell is in was removed\n"


@pytest.fixture
def result(tmp_path: Path) -> Path:
    return measured(STUDY, tmp_path)


@pytest.fixture
def removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The directory of this process, which is no more."""
    place = tmp_path / "removed"
    place.mkdir()
    monkeypatch.chdir(place)
    place.rmdir()
    return place


@pytest.mark.parametrize(
    "words",
    [
        "quickstart --fake",
        "init s.yaml",
        "init",
        "plan s.yaml",
        "run {0}/study.yaml --scale 10%",
        "run --resume a",
        "run {0}/study.yaml --rates-of a --results {0}/more",
        "status",
        "report",
        "verify",
        "compare a {1}",
        "export {1} --to o",
        "schema --write o",
        "path s.yaml plain",
    ],
)
def test_a_verb_that_needs_the_directory_says_that_it_was_removed(
    dunnage: Command, tmp_path: Path, result: Path, removed: Path, words: str
) -> None:
    typed = words.format(tmp_path, result)
    shown = dunnage(*typed.split())
    assert (shown.code, shown.out) == (3, "")
    assert shown.err == f"{GONE}  try: cd DIRECTORY, then: dunnage {typed}\n"
    assert not removed.exists()


def test_a_program_is_told_in_json(dunnage: Command, removed: Path) -> None:
    error = json.loads(dunnage("status", "--format", "json").out)["error"]
    assert error["what"] in GONE
    assert error["exit_code"] == 3


@pytest.mark.parametrize(
    "words",
    [
        "plan {0}/study.yaml",
        "run {0}/study.yaml --results {0}/more",
        "run --resume {1}",
        "status {1}",
        "report {1}",
        "verify {1}",
        "export {1} --to {0}/o",
        "init {0}/s.yaml",
        "schema study",
        "quickstart --fake --results {0}/more",
    ],
)
def test_a_verb_that_does_not_need_it_works(
    dunnage: Command, tmp_path: Path, result: Path, removed: Path, words: str
) -> None:
    shown = dunnage(*words.format(tmp_path, result).split())
    assert shown.code == 0, shown.err
    assert GONE not in shown.err


def test_what_else_begins_there_is_told_as_well(
    dunnage: Command, tmp_path: Path, result: Path, removed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DUNNAGE_CACHE", "cache")
    shown = dunnage("plan", tmp_path / "study.yaml")
    assert (shown.code, GONE in shown.err) == (3, True)


def test_a_file_that_we_miss_where_the_directory_is_there_is_a_bug(
    dunnage: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    def missed(**_: object) -> None:
        raise FileNotFoundError(2, "No such file or directory", "ours")

    monkeypatch.setattr(lab_tool, "clean", missed)
    shown = dunnage("clean")
    assert shown.code == 1
    assert "this is a bug in Dunnage" in shown.err


def test_a_study_is_never_advised_to_be_written_there(
    dunnage: Command, tmp_path: Path, removed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    shown = dunnage("init", "/proc/x.yaml")
    assert shown.err.endswith(f"try: dunnage init {tmp_path / 'x.yaml'}\n")
