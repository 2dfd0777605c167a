"""What a shell offers while a command is typed."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest
from command import Command

STUDY = (Path(__file__).parents[3] / "studies" / "quickstart.yaml").read_text()


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory with studies and results."""
    (tmp_path / "mine.yaml").write_text(STUDY)
    (tmp_path / "studies").mkdir()
    (tmp_path / "studies" / "other.yaml").write_text(STUDY)
    for result in ("quickstart/2026-01-01T00-00-00Z-aaaaaa", "nightly/2026-01-02T00-00-00Z-bbbbbb"):
        (tmp_path / "results" / result).mkdir(parents=True)
        (tmp_path / "results" / result / "plan.json").write_text("{}")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def offered(dunnage: Command, monkeypatch: pytest.MonkeyPatch) -> object:
    """Return what bash is offered after a beginning of a command line."""

    def offer(line: str) -> list[str]:
        words = line.split(" ")
        monkeypatch.setenv("_DUNNAGE_COMPLETE", "complete_bash")
        monkeypatch.setenv("COMP_WORDS", line)
        monkeypatch.setenv("COMP_CWORD", str(len(words) - 1))
        return dunnage().out.split()

    return offer


@pytest.mark.parametrize(
    ("line", "names"),
    [
        ("dunnage ver", ["verify"]),
        ("dunnage plan ", ["mine.yaml", "studies/other.yaml"]),
        ("dunnage plan st", ["studies/other.yaml"]),
        ("dunnage report ", ["results/nightly", "results/quickstart"]),
        ("dunnage report results/nightly/", ["results/nightly/2026-01-02T00-00-00Z-bbbbbb"]),
        ("dunnage run --resume results/q", ["results/quickstart"]),
        ("dunnage schema an", ["analysis"]),
        ("dunnage plan mine.yaml --only docker-b", ["docker-bridge"]),
        ("dunnage plan mine.yaml --only n", ["native", "native-twin"]),
        ("dunnage plan mine.yaml --only t", ["t32"]),
        ("dunnage plan nowhere.yaml --only n", []),
        ("dunnage report --format j", ["json"]),
    ],
)
def test_files_and_names_are_offered(offered: object, line: str, names: list[str]) -> None:
    assert callable(offered)
    assert offered(line) == names


@pytest.mark.parametrize(
    ("environment", "says"),
    [
        ({"_DUNNAGE_COMPLETE": "nonsense"}, "`_DUNNAGE_COMPLETE` is `nonsense`"),
        ({"_DUNNAGE_COMPLETE": "complete_bsh"}, "`_DUNNAGE_COMPLETE` is `complete_bsh`"),
        ({"_DUNNAGE_COMPLETE": "complete_bash"}, "`COMP_WORDS` is not"),
        ({"_DUNNAGE_COMPLETE": "complete_bash", "COMP_WORDS": "dunnage"}, "`COMP_CWORD` is not"),
        (
            {"_DUNNAGE_COMPLETE": "complete_bash", "COMP_WORDS": "dunnage", "COMP_CWORD": "x"},
            "`COMP_CWORD` is `x` and not a number",
        ),
    ],
)
def test_an_environment_that_asks_nothing_is_told(
    dunnage: Command, monkeypatch: pytest.MonkeyPatch, environment: dict[str, str], says: str
) -> None:
    for name in ("COMP_WORDS", "COMP_CWORD"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    shown = dunnage()
    assert shown.code == 2
    assert says in shown.err
    assert "try: unset _DUNNAGE_COMPLETE" in shown.err


def test_an_environment_that_asks_with_nothing_is_none(
    dunnage: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("_DUNNAGE_COMPLETE", "")
    assert dunnage("--version").code == 0


@pytest.mark.parametrize(
    ("home", "says"), [("file", "Not a directory"), ("piped", "this is not a file")]
)
def test_a_home_that_completion_cannot_be_written_to_is_told(
    dunnage: Command, place: Path, monkeypatch: pytest.MonkeyPatch, home: str, says: str
) -> None:
    (place / "file").write_text("")
    (place / "piped").mkdir()
    os.mkfifo(place / "piped" / ".bashrc")
    monkeypatch.setenv("HOME", str(place / home))
    shown = dunnage("--install-completion")
    assert shown.code == 3
    assert f"{place / home}/.bashrc: completion cannot be installed: {says}" in shown.err
    assert "try: dunnage --show-completion" in shown.err


def test_what_completion_writes_is_named_and_removed_as_the_documentation_says(
    dunnage: Command, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("shellingham.detect_shell", lambda *_: ("bash", "/bin/bash"))
    monkeypatch.setenv("HOME", str(place))
    before = {path for path in place.rglob("*") if path.is_file()}
    (place / ".bashrc").write_text("alias ll='ls -l'\n")
    assert dunnage("--install-completion").code == 0
    written = {path for path in place.rglob("*") if path.is_file()} - before
    documented = (Path(__file__).parents[3] / "README.md").read_text()
    (removing,) = re.findall(r"`(rm ~/\.bash_completions[^`]*)`", documented)
    for path in written:
        assert f"`~/{path.relative_to(place)}`" in documented
    assert written == {place / ".bashrc", place / ".bash_completions" / "dunnage.sh"}
    subprocess.run(["sh", "-c", removing], check=True)
    assert (place / ".bashrc").read_text().rstrip() == "alias ll='ls -l'"
    assert not (place / ".bash_completions" / "dunnage.sh").exists()
