"""What is told to be typed next fits what was done, and can be typed."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
from command import Command
from measured import STUDY, measured, written

ACTIVATE = "before these commands, type in this shell: . "


@pytest.fixture
def venv(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An environment of this process that no shell has activated, and the directory beside it."""
    made = tmp_path / "here" / ".venv"
    (made / "bin").mkdir(parents=True)
    (made / "bin" / "activate").touch()
    (made / "bin" / "dunnage").touch(mode=0o755)
    monkeypatch.setattr(sys, "prefix", str(made))
    monkeypatch.setenv("PATH", os.defpath)
    monkeypatch.chdir(made.parent)
    return made


def test_only_the_quickstart_leads_to_a_study_of_ones_own(dunnage: Command, tmp_path: Path) -> None:
    study = written(tmp_path)
    for words in (("run", study), ("report",)):
        shown = dunnage(*words, *["--results"] * (words[0] == "run"), tmp_path / "own")
        assert shown.code == 0
        assert "dunnage init" not in shown.err
    quick = ("quickstart", "--fake", "--results", tmp_path / "quick")
    assert dunnage(*quick).err.endswith("next, a study of your own: dunnage init\n")
    assert "dunnage init" not in dunnage(*quick, "--format", "json").err


def test_a_shell_that_does_not_know_the_command_is_told_how_it_learns_it(
    dunnage: Command,
    venv: Path,
    tmp_path_factory: pytest.TempPathFactory,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert dunnage("init").err.splitlines()[-1] == f"{ACTIVATE}.venv/bin/activate"
    for place in (tmp_path_factory.mktemp("elsewhere"), venv / "bin"):
        monkeypatch.chdir(place)
        last = dunnage("status", "/nowhere").err.splitlines()[-1]
        assert last == f"{ACTIVATE}{venv}/bin/activate"


def test_nothing_is_told_where_no_command_was(dunnage: Command, venv: Path) -> None:
    assert ACTIVATE not in dunnage("schema", "study").err


def test_nothing_is_told_where_the_command_is_found_or_nobody_could_tell(
    dunnage: Command, venv: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "linked").mkdir()
    (tmp_path / "linked" / "dunnage").symlink_to(venv / "bin" / "dunnage")
    for path in (venv / "bin", tmp_path / "linked"):
        monkeypatch.setenv("PATH", str(path))
        assert ACTIVATE not in dunnage("status", "nowhere").err
    monkeypatch.setenv("PATH", os.defpath)
    assert ACTIVATE in dunnage("status", "nowhere").err
    (venv / "bin" / "activate").unlink()
    assert ACTIVATE not in dunnage("status", "nowhere").err


def test_in_a_removed_directory_it_is_told_from_the_root(
    dunnage: Command, venv: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    removed = tmp_path / "removed"
    removed.mkdir()
    monkeypatch.chdir(removed)
    removed.rmdir()
    shown = dunnage("status", "/nowhere")
    assert shown.code == 2
    assert shown.err.splitlines()[-1] == f"{ACTIVATE}{venv}/bin/activate"


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        ("report results/report/index.html", "report results"),
        ("report results/plan.json", "report results"),
        ("verify results/runs", "verify results"),
        ("status results/runs/nothing --format text", "status results --format text"),
        ("run --resume results/runs", "run --resume results"),
        ("run --resume=results/runs", "run --resume=results"),
        ("export results/report --to o", "export results --to o"),
        ("path results/runs plain", "path results plain"),
    ],
)
def test_who_names_a_part_of_a_result_is_led_to_the_whole(
    dunnage: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: str, hint: str
) -> None:
    result = measured(STUDY, tmp_path)
    monkeypatch.chdir(result.parent)
    shown = dunnage(*words.replace("results", result.name).split())
    assert shown.code == 2
    assert "there is no result here" in shown.err
    assert f"try: dunnage {hint.replace('results', result.name)}\n" in shown.err


def test_who_stands_in_a_result_is_led_to_it(
    dunnage: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    result = measured(STUDY, tmp_path)
    monkeypatch.chdir(result / "runs")
    assert f"try: dunnage report {result}\n" in dunnage("status").err
    assert f"try: dunnage verify {result}\n" in dunnage("verify", ".").err


@pytest.mark.parametrize("error", [ZeroDivisionError, KeyboardInterrupt])
def test_what_is_told_beside_the_answer_does_not_change_how_a_command_ended(
    dunnage: Command, monkeypatch: pytest.MonkeyPatch, error: type[BaseException]
) -> None:
    def failing() -> None:
        raise error

    monkeypatch.setattr("dunnage.cli.command_line.tell_activation", failing)
    shown = dunnage("status", "/nowhere")
    assert shown.code == 2
    assert ("this is a bug in Dunnage" in shown.err) == (error is ZeroDivisionError)
