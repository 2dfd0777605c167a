"""A disk that is full when the answer is written: measured runs stay, and `report` goes on."""

from __future__ import annotations

import errno
import os
import shutil
from pathlib import Path
from typing import Any

import pytest
from command import Command
from measured import STUDY, measured, without_checksums, written

from dunnage.cli.shared import carrying_out
from dunnage.errors import UnwrittenError, naming
from dunnage.store.layout import ResultLayout
from dunnage.store.write import ResultWriter


def full_for(file: str, patch: pytest.MonkeyPatch) -> None:
    """From now on the disk has no room for files of this name."""
    opened = Path.open

    def full(path: Path, *words: Any, **options: Any) -> Any:
        there = Path("/dev/full") if path.name.startswith(f".{file}.") else path
        return opened(there, *(("wb",) if there != path else words), **options)

    patch.setattr(Path, "open", full)


@pytest.mark.parametrize("file", ["index.html", "answers.csv", "analysis.json"])
def test_it_is_said_with_the_command_that_goes_on(
    dunnage: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, file: str
) -> None:
    """The disk has no room for one file: what was to be written is played, the answer is not."""
    result = measured(STUDY, tmp_path)
    with monkeypatch.context() as patch:
        full_for(file, patch)
        shown = dunnage("report", result, "--figures")
    assert shown.code == 4
    assert "only one deployment was run" in shown.out
    assert "the disk is full\n" in shown.err
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


@pytest.mark.parametrize(
    ("place", "why"),
    [
        ("/proc/x", "/proc takes no files"),
        ("/dev/null/x", "/dev/null is no directory"),
        ("/dev/full", "/dev/full is no directory"),
        ("/dev/null", "/dev/null is no directory"),
    ],
)
def test_a_place_that_is_fit_for_no_result_is_told_with_the_reason(
    dunnage: Command, tmp_path: Path, place: str, why: str
) -> None:
    study = written(tmp_path)
    for words in (("run", study, "--scale", "50%"), ("quickstart", "--fake")):
        shown = dunnage(*words, "--results", place)
        assert shown.code == 4
        assert f"dunnage: {place}: cannot write: {why}\n" in shown.err
        again = " ".join(map(str, words))
        elsewhere = f"try: name another directory: dunnage {again} --results DIRECTORY\n"
        assert shown.err.endswith(elsewhere)
    shown = dunnage("schema", "--write", place)
    assert f"cannot write: {why}\n" in shown.err
    assert "try: name another directory: dunnage schema --write DIRECTORY\n" in shown.err


@pytest.mark.parametrize("place", ["/dev/null", "/proc/x"])
def test_a_place_that_is_fit_for_no_export_is_told_and_another_is_to_be_named(
    dunnage: Command, tmp_path: Path, place: str
) -> None:
    result = measured(STUDY, tmp_path)
    shown = dunnage("export", result, "--to", place, "--as", "csv")
    assert shown.code == 4
    again = f"dunnage export {result} --to DIRECTORY --as csv"
    assert shown.err.endswith(f"try: name another directory: {again}\n")


def test_nobody_is_to_move_a_device_away() -> None:
    error = UnwrittenError(OSError(errno.EEXIST, "File exists", "/dev/null"), "/dev/null")
    told = "put a directory that takes files in its place, then: dunnage report"
    assert error.then("dunnage report") == told


def test_a_directory_that_lets_us_in_and_refuses_all_files_is_told_from_one_that_is_closed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(number: int, place: Path) -> str:
        return str(UnwrittenError(OSError(number, "refused", str(place)), "there"))

    assert refused(errno.EPERM, tmp_path / "x") == f"there: cannot write: {tmp_path} takes no files"
    (tmp_path / "held").touch()
    for names in ((tmp_path / "held",), (tmp_path / "draft", None, tmp_path / "held")):
        held = UnwrittenError(OSError(errno.EPERM, "refused", *names), "there")
        assert str(held) == "there: cannot write: refused"
        assert held.then("again") == "make it writable, then: again"
    assert refused(errno.ENOENT, tmp_path / "gone" / "x").endswith("the directory was removed")
    assert refused(errno.EACCES, tmp_path / "gone" / "x").endswith("cannot write: refused")
    (tmp_path / "file").touch()
    assert refused(errno.ENOTDIR, tmp_path / "file" / "x").endswith("cannot write: refused")
    monkeypatch.setattr(os, "access", lambda *_: False)
    assert refused(errno.EACCES, tmp_path / "x") == "there: cannot write: refused"
    (tmp_path / "stands").mkdir()
    monkeypatch.chdir(tmp_path / "stands")
    (tmp_path / "stands").rmdir()
    assert refused(errno.ENOENT, Path("x")) == "there: cannot write: the directory was removed"


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
    assert "every finished run is kept" in shown.err
    assert f"try: remove the link, then: dunnage run --resume {result}" in shown.err
    assert list((tmp_path / "elsewhere").iterdir()) == []


@pytest.mark.parametrize("file", ["study.yaml", "plan.json"])
def test_where_nothing_has_begun_nothing_is_left_and_nothing_is_said_to_be_kept(
    dunnage: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, file: str
) -> None:
    monkeypatch.chdir(tmp_path)
    written(tmp_path)
    Path("results/small/another").mkdir(parents=True)
    with monkeypatch.context() as patch:
        full_for(file, patch)
        shown = dunnage("run", "study.yaml")
    assert shown.code == 4
    assert "the disk is full" in shown.err
    assert "every finished run" not in shown.err
    assert "try: free some space, then: dunnage run study.yaml\n" in shown.err
    assert [path.name for path in Path("results/small").iterdir()] == ["another"]


def test_a_result_that_cannot_grow_is_said_with_the_whole_command(
    dunnage: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    result = measured(STUDY, tmp_path)
    with monkeypatch.context() as patch:
        full_for("looks.jsonl", patch)
        shown = dunnage("run", "--resume", result, "--blocks", "+1")
    assert shown.code == 4
    assert f"then: dunnage run --resume {result} --blocks +1\n" in shown.err


def test_a_disk_that_is_full_elsewhere_while_a_study_runs_is_told_with_what_goes_on(
    dunnage: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "/elsewhere/file")

    monkeypatch.setattr(carrying_out, "_measure", full)
    shown = dunnage("run", written(tmp_path), "--results", tmp_path / "results")
    assert shown.code == 4
    assert "/elsewhere/file: the disk is full\n  every finished run is kept\n" in shown.err
    assert "try: free some space, then: dunnage run --resume " in shown.err


def test_a_full_disk_that_nobody_names_is_to_be_found_by_df(
    dunnage: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The kernel takes the file and refuses the bytes: such an error has no name of a file."""
    monkeypatch.setattr(carrying_out, "_measure", lambda *_, **__: overfill())
    shown = dunnage("run", written(tmp_path), "--results", tmp_path / "results")
    assert shown.code == 4
    assert "dunnage: a disk is full\n  every finished run is kept\n" in shown.err
    hint = "try: `df` shows which one; free some space, then: dunnage run --resume "
    assert hint in shown.err


def test_who_knows_the_file_that_was_written_names_it() -> None:
    with pytest.raises(OSError, match="/dev/full") as raised, naming(Path("/dev/full")):
        overfill()
    assert raised.value.errno == errno.ENOSPC
    with pytest.raises(FileNotFoundError) as named, naming(Path("/dev/full")):
        Path("/nowhere").read_text()
    assert named.value.filename == "/nowhere"


def overfill() -> None:
    """Write more than a full disk takes."""
    Path("/dev/full").write_text("x")


def test_a_file_that_is_larger_than_the_shell_allows_is_said_with_the_remedy() -> None:
    error = UnwrittenError(OSError(errno.EFBIG, "File too large"), "runs.parquet")
    assert "limit" in str(error)
    assert error.then("dunnage report") == "ulimit -f unlimited, then: dunnage report"


def test_while_a_study_runs_its_report_says_so(dunnage: Command, tmp_path: Path) -> None:
    result = measured(STUDY.replace("blocks: 1", "blocks: 2"), tmp_path)
    without_checksums(result)  # as if the run had not ended yet
    (run, *_) = sorted((result / "runs").iterdir())
    shutil.rmtree(run)
    journal = ResultLayout(result).journal
    lines = [line for line in journal.read_text().splitlines(True) if run.name not in line]
    journal.write_text("".join(lines))
    with ResultWriter(result).held():
        shown = dunnage("report", result)
    assert shown.code == 5
    assert "1 of 2 runs are valid so far; the study still runs" in shown.err
    assert "the reasons are in the report" not in shown.err
    assert "still runs" not in dunnage("report", result).err
