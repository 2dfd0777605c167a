"""A disk that is full when the answer is written: measured runs stay, and `report` goes on."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest
from command import Command
from measured import measured

STUDY = """
dunnage: 1
name: full
testbed: {kind: fake, hosts: {db: 1, client: 1}}
database: {kind: fake, topology: single}
deployments: {plain: {platform: fake, network: plain}}
workloads: [A]
records: 100
load: {threads: [4], warmup: 0s, duration: 2s}
blocks: 1
generator: fake
sampler: {kind: fake}
"""


@pytest.mark.parametrize("file", ["index.html", "answers.csv", "analysis.json"])
def test_it_is_said_with_the_command_that_goes_on(
    dunnage: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, file: str
) -> None:
    """The disk has no room for one file: what was to be written is played, the answer is not."""
    result = measured(STUDY, tmp_path)
    opened = Path.open

    def full(path: Path, *words: Any, **options: Any) -> Any:
        there = Path("/dev/full") if path.name.startswith(f".{file}.") else path
        return opened(there, *(("wb",) if there != path else words), **options)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "open", full)
        shown = dunnage("report", result, "--figures")
    assert shown.code == 4
    assert "only one deployment was run" in shown.out
    assert "the disk is full; every finished run is kept" in shown.err
    assert f"try: free some space, then: dunnage report {result} --figures" in shown.err
    assert dunnage("report", result).code == 0
    assert (result / "report" / "index.html").stat().st_size > 0


def test_what_cannot_be_written_for_another_reason_is_said_with_it(
    dunnage: Command, tmp_path: Path
) -> None:
    result = measured(STUDY, tmp_path)
    shutil.rmtree(result / "report")
    (result / "report").write_text("in the way")
    shown = dunnage("report", result)
    assert shown.code == 4
    assert "cannot write: File exists" in shown.err
    assert f"try: move away what is in its place, then: dunnage report {result}" in shown.err


def test_runs_that_lead_elsewhere_are_said_with_what_to_remove(
    dunnage: Command, tmp_path: Path
) -> None:
    result = measured(STUDY, tmp_path)
    (result / "runs").rename(tmp_path / "elsewhere")
    (result / "runs").symlink_to(tmp_path / "elsewhere")
    for run in (tmp_path / "elsewhere").iterdir():
        shutil.rmtree(run)
    shown = dunnage("run", "--resume", result)
    assert shown.code == 4
    assert "this is a link" in shown.err
    assert f"try: remove the link, then: dunnage run --resume {result}" in shown.err
    assert list((tmp_path / "elsewhere").iterdir()) == []
