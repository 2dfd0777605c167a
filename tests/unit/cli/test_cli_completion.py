"""What a shell offers while a command is typed."""

from __future__ import annotations

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
