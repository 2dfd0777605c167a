"""Files that somebody else may have put there: only regular ones, of a bounded size, no links."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from results import tiny_result

from dunnage.errors import ResultError, UnwrittenError
from dunnage.model.value import Value
from dunnage.store.machine_log import remember, remembered
from dunnage.store.read import open_result
from dunnage.store.regular import opened_to_append, regular_bytes


def bytes_read() -> int:
    """How much this process has read so far, from anywhere."""
    found = re.search(r"rchar: (\d+)", Path("/proc/self/io").read_text())
    assert found is not None
    return int(found[1])


def test_a_file_of_some_gigabytes_is_refused_and_not_read(tmp_path: Path) -> None:
    path = tmp_path / "record.json"
    path.touch()
    os.truncate(path, 8 * 2**30)
    before = bytes_read()
    with pytest.raises(OSError, match="too large"):
        regular_bytes(path)
    assert bytes_read() - before < 2**20
    assert regular_bytes(path, 10) == b"\0" * 10


def a_link(path: Path, elsewhere: Path) -> None:
    elsewhere.write_text("dear")
    path.symlink_to(elsewhere)


def a_link_to_nothing(path: Path, elsewhere: Path) -> None:
    path.symlink_to(elsewhere)


def a_pipe(path: Path, _: Path) -> None:
    os.mkfifo(path)


OTHERS = {"a link": a_link, "a link to nothing": a_link_to_nothing, "a pipe": a_pipe}


@pytest.mark.parametrize("kind", OTHERS)
def test_nothing_but_a_file_is_opened_to_append(kind: str, tmp_path: Path) -> None:
    path, elsewhere = tmp_path / "lines", tmp_path / "elsewhere"
    OTHERS[kind](path, elsewhere)
    was = elsewhere.read_text() if elsewhere.exists() else None
    with pytest.raises(OSError, match="this is a"):
        opened_to_append(path)
    assert (elsewhere.read_text() if elsewhere.exists() else None) == was


def test_what_is_appended_comes_after_what_is_there(tmp_path: Path) -> None:
    path = tmp_path / "lines"
    for line in (b"one\n", b"two\n"):
        with opened_to_append(path) as file:
            file.write(line)
    assert path.read_bytes() == b"one\ntwo\n"


@pytest.mark.parametrize("spoil", [a_link, a_link_to_nothing])
def test_a_journal_that_is_a_link_is_told_and_not_written_through(
    tmp_path: Path, spoil: Callable[[Path, Path], None]
) -> None:
    writer, elsewhere = tiny_result(tmp_path, "r1"), tmp_path / "elsewhere"
    writer.layout.journal.unlink()
    spoil(writer.layout.journal, elsewhere)
    was = elsewhere.read_text() if elsewhere.exists() else None
    with pytest.raises(UnwrittenError, match="this is a link") as raised:
        writer.journal("anything")
    assert raised.value.where == str(writer.layout.journal)
    assert raised.value.hint.startswith("remove the link, then: dunnage run --resume ")
    assert (elsewhere.read_text() if elsewhere.exists() else None) == was


def test_a_lock_that_is_a_link_is_told(tmp_path: Path) -> None:
    writer = tiny_result(tmp_path, "r1")
    writer.layout.lock.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(ResultError, match="this is a link"), writer.held():
        pass
    assert not (tmp_path / "elsewhere").exists()


class Line(Value):
    """What is remembered."""

    number: int


def test_the_history_of_a_machine_is_not_written_through_a_link(tmp_path: Path) -> None:
    remember(tmp_path / "log", "here", Line(number=1))
    (tmp_path / "log" / "there.jsonl").symlink_to(tmp_path / "log" / "here.jsonl")
    with pytest.raises(OSError, match="this is a link"):
        remember(tmp_path / "log", "there", Line(number=2))
    assert remembered(tmp_path / "log", "here", Line) == [Line(number=1)]


def test_a_pipe_in_the_place_of_the_lock_is_not_waited_for(tmp_path: Path) -> None:
    writer = tiny_result(tmp_path, "r1")
    a_pipe(writer.layout.lock, tmp_path)
    assert not open_result(writer.layout.root).in_progress()
    with pytest.raises(UnwrittenError, match="this is a pipe") as caught, writer.held():
        pass
    assert caught.value.then("dunnage") == "move away what is in its place, then: dunnage"
