"""What is written is whole or not there, and a full disk loses nothing that was."""

from __future__ import annotations

import errno
import fcntl
import json
import os
import shlex
import time
from pathlib import Path

import pytest
from results import tiny_record, tiny_result, tiny_stay

from dunnage.errors import ResultError
from dunnage.model.process import ProcessFacts
from dunnage.secrets.names import MASK
from dunnage.store.events import KEPT
from dunnage.store.read import open_result
from dunnage.store.write import JOURNAL_VERSION, ResultWriter, write_bytes


def full_disk(_: int) -> None:
    raise OSError(errno.ENOSPC, "No space left on device")


def test_a_write_that_fails_leaves_the_old_file_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "file"
    write_bytes(path, b"old")
    monkeypatch.setattr(os, "fsync", full_disk)
    with pytest.raises(ResultError, match="disk is full"):
        write_bytes(path, b"new and longer")
    assert path.read_text() == "old"
    assert [each.name for each in tmp_path.iterdir()] == ["file"]


@pytest.mark.parametrize("name", ["plain", "with 'quotes' and $(spaces)"])
def test_a_full_disk_tells_the_command_that_goes_on_with_this_result(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    writer = tiny_result(tmp_path / name, "r1", "r2")
    writer.record(tiny_record("r1"))
    monkeypatch.setattr(os, "fsync", full_disk)
    with pytest.raises(ResultError) as raised:
        writer.record(tiny_record("r2"))
    *_, resume, root = shlex.split(raised.value.hint)
    assert (resume, root) == ("--resume", str(writer.layout.root))
    assert raised.value.where == str(writer.layout.journal)
    assert open_result(writer.layout.root).finished() == {"r1"}


def test_a_result_that_was_moved_away_is_named_and_no_part_of_it(tmp_path: Path) -> None:
    writer = tiny_result(tmp_path / "results", "r1")
    writer.layout.root.rename(tmp_path / "moved")
    for write in (
        lambda: writer.record(tiny_record("r1")),
        lambda: writer.artefact("r1", "load.hlog", b""),
        lambda: writer.new_stay("b01-native"),
        lambda: writer.stay_log("b01-native", "log", "text"),
        lambda: writer.journal("run begins"),
    ):
        with pytest.raises(ResultError) as raised:
            write()
        resume = f"dunnage run --resume {shlex.quote(str(writer.layout.root))}"
        assert raised.value.hint == f"put the directory back, then: {resume}"
        assert raised.value.where == str(writer.layout.root)


def test_of_a_result_the_part_that_was_removed_is_named(tmp_path: Path) -> None:
    writer = tiny_result(tmp_path / "results", "r1")
    writer.layout.runs.rmdir()
    with pytest.raises(ResultError, match="cannot write: the directory was removed") as raised:
        writer.artefact("r1", "load.hlog", b"")
    assert raised.value.where == str(writer.layout.runs)


def test_the_directories_of_a_result_are_made_again_and_only_where_they_are_missing(
    tmp_path: Path,
) -> None:
    writer = tiny_result(tmp_path / "results", "r1")
    (writer.layout.runs / "kept").mkdir()
    writer.layout.stays.rmdir()
    writer.make_directories()
    assert writer.layout.stays.is_dir()
    assert (writer.layout.runs / "kept").is_dir()
    writer.layout.stays.rmdir()
    writer.layout.stays.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(ResultError, match="this is a link"):
        writer.make_directories()
    writer.layout.root.rename(tmp_path / "moved")
    with pytest.raises(ResultError, match="the directory was removed") as raised:
        writer.make_directories()
    assert raised.value.where == str(writer.layout.root)


def test_another_failure_is_told_with_its_reason_and_place(tmp_path: Path) -> None:
    with pytest.raises(ResultError, match="cannot write: the directory was removed") as raised:
        write_bytes(tmp_path / "nowhere" / "file", b"text")
    assert raised.value.where == str(tmp_path / "nowhere")


def test_a_directory_of_a_run_that_cannot_be_made_is_told(tmp_path: Path) -> None:
    writer = tiny_result(tmp_path, "r1")
    writer.layout.run("r1").write_text("a file is in the way")
    with pytest.raises(ResultError, match="cannot write"):
        writer.record(tiny_record("r1"))


def test_every_attempt_at_a_stay_gets_a_name_of_its_own(tmp_path: Path) -> None:
    writer = tiny_result(tmp_path)
    names = [writer.new_stay("b01-native") for _ in range(3)]
    assert names == ["b01-native", "b01-native.2", "b01-native.3"]
    assert writer.new_stay("b01-other") == "b01-other"


def test_every_line_of_the_journal_is_a_document_of_its_own(tmp_path: Path) -> None:
    writer = tiny_result(tmp_path)
    writer.journal("first", why="two\nlines\u2028three", api_key="geheim")
    writer.journal("second", count=2)
    lines = writer.layout.journal.read_text().split("\n")
    assert lines.pop() == ""
    *_, first, second = map(json.loads, lines)
    assert first["why"] == "two\nlines\u2028three"
    assert first["api_key"] == MASK
    assert second["count"] == 2
    assert first["version"] == second["version"] == JOURNAL_VERSION
    assert first["time"] <= second["time"]


def test_a_line_that_was_cut_off_does_not_swallow_the_next(tmp_path: Path) -> None:
    writer = tiny_result(tmp_path)
    writer.journal("first")
    with writer.layout.journal.open("a") as file:
        file.write('{"version": 1, "event": "cut o')
    writer.journal("second")
    events = open_result(writer.layout.root).events()
    assert [event["event"] for event in events if event["event"] != KEPT] == ["first", "second"]


def test_what_an_unfinished_attempt_left_is_removed_before_the_next(tmp_path: Path) -> None:
    writer = tiny_result(tmp_path, "r1")
    directory = writer.layout.run("r1")
    directory.mkdir()
    (directory / "old.log").write_text("old")
    writer.artefact("r1", "new.log", b"new")
    writer.artefact("r1", "more.log", b"more")
    assert sorted(path.name for path in directory.iterdir()) == ["more.log", "new.log"]


def test_artefacts_are_masked_and_histogram_logs_stay_byte_for_byte(tmp_path: Path) -> None:
    writer = tiny_result(tmp_path, "r1")
    writer.artefact("r1", "load.log", b"password=geheim \xff\n")
    writer.artefact("r1", "result.json", b'{"url": "redis://:geheim@host", "operations": 3}')
    writer.artefact("r1", "latency.hlog", b"password=payload \xff\n")
    directory = writer.layout.run("r1")
    assert (directory / "load.log").read_bytes() == f"password={MASK} ".encode() + b"\xff\n"
    assert json.loads((directory / "result.json").read_text())["operations"] == 3
    assert "geheim" not in (directory / "result.json").read_text()
    assert (directory / "latency.hlog").read_bytes() == b"password=payload \xff\n"


def test_secrets_in_what_a_process_was_started_with_are_masked(tmp_path: Path) -> None:
    writer = tiny_result(tmp_path)
    stay = writer.new_stay("b01-native")
    process = ProcessFacts(
        member="redis-1",
        role="primary",
        executable="/redis-server",
        executable_sha256="0" * 64,
        mapped={},
        argv=("/redis-server", "--requirepass", "geheim"),
        files={"/redis.conf": "requirepass geheim\nport 6379\n"},
        limits={},
        data={},
        kernel={},
        user="0:0",
        environment={"REDIS_PASSWORD": "geheim", "TOOL_OPTIONS": "-Dpassword=geheim", "A": "b"},
    )
    writer.stay(tiny_stay(stay, {}).model_copy(update={"processes": (process,)}))
    (read,) = open_result(writer.layout.root).stays[0].processes
    assert read.environment["REDIS_PASSWORD"] == MASK
    assert read.environment["A"] == "b"
    assert read.files == {"/redis.conf": f"requirepass {MASK}\nport 6379\n"}
    assert "geheim" not in writer.layout.stay(stay).read_text()


def test_no_secret_reaches_the_result(tmp_path: Path) -> None:
    writer = tiny_result(tmp_path)
    stay = writer.new_stay("b01-native")
    writer.stay(tiny_stay(stay, {"requirepass": 'ge"heim', "version": "7"}))
    writer.stay_log(stay, "redis-1.log", "connecting with password=ge-heim\n")
    writer.environment({"proxy.password": "geheim", "kernel": "6.1"})
    (read,) = open_result(writer.layout.root).stays
    assert read.facts == {"requirepass": MASK, "version": "7"}
    for path in writer.layout.root.rglob("*.*"):
        assert not path.is_file() or "heim" not in path.read_text(), path


def test_who_only_looks_at_a_result_keeps_nobody_from_writing_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    writer = tiny_result(tmp_path / "result", "r1")
    writer.layout.lock.touch()
    with writer.layout.lock.open("rb") as looking:
        fcntl.flock(looking, fcntl.LOCK_SH)
        monkeypatch.setattr(time, "sleep", lambda _: fcntl.flock(looking, fcntl.LOCK_UN))
        with writer.held():
            assert open_result(writer.layout.root).in_progress()


def test_two_never_write_one_result(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    writer = tiny_result(tmp_path / "result", "r1")
    monkeypatch.setattr(time, "sleep", lambda _: None)
    with (
        writer.held(),
        pytest.raises(ResultError, match="another `dunnage run`"),
        ResultWriter(writer.layout.root).held(),
    ):
        pass


def test_what_goes_wrong_while_a_result_is_held_is_not_blamed_on_its_lock(tmp_path: Path) -> None:
    writer = tiny_result(tmp_path / "result", "r1")
    with pytest.raises(FileNotFoundError, match="elsewhere"), writer.held():
        raise FileNotFoundError("elsewhere")
