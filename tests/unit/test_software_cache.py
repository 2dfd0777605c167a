"""The cache: an entry is made once, whole, and found again."""

from __future__ import annotations

import errno
import os
import threading
from pathlib import Path

import pytest

from dunnage.errors import UnavailableError
from dunnage.software.cache import Cache, default_root


def make_entry(directory: Path) -> str:
    (directory / "content").write_text("whole")
    return "thing-1"


def test_the_cache_lies_where_the_environment_says(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("DUNNAGE_CACHE", str(tmp_path / "own"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "shared"))
    assert default_root() == tmp_path / "own"
    monkeypatch.delenv("DUNNAGE_CACHE")
    assert default_root() == tmp_path / "shared" / "dunnage"
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    assert default_root() == tmp_path / "home" / ".cache" / "dunnage"


def test_an_entry_is_made_once_and_found_again(tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    assert cache.find("thing") is None
    made = cache.obtain("thing", make_entry)
    assert (made / "content").read_text() == "whole"
    again = cache.obtain("thing", lambda _: pytest.fail("made a second time"))
    assert again == made == cache.find("thing")


def test_two_requests_made_of_the_same_share_one_entry(tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    assert cache.obtain("thing", make_entry) == cache.obtain("same-thing", make_entry)
    assert list((tmp_path / "building").iterdir()) == []


def test_a_failed_making_leaves_nothing_and_can_be_repeated(tmp_path: Path) -> None:
    def fail(directory: Path) -> str:
        (directory / "half").write_text("half")
        raise UnavailableError("no network")

    cache = Cache(tmp_path)
    with pytest.raises(UnavailableError, match="no network"):
        cache.obtain("thing", fail)
    assert cache.find("thing") is None
    assert list((tmp_path / "building").iterdir()) == []
    assert (cache.obtain("thing", make_entry) / "content").exists()


def test_what_a_killed_process_left_half_made_is_not_used(tmp_path: Path) -> None:
    half = tmp_path / "building" / "thing"
    half.mkdir(parents=True)
    (half / "rubbish").write_text("half")
    entry = Cache(tmp_path).obtain("thing", make_entry)
    assert [path.name for path in entry.iterdir()] == ["content"]


def test_of_several_that_ask_at_once_one_makes_it(tmp_path: Path) -> None:
    makers: list[str] = []
    entries: list[Path] = []
    together = threading.Barrier(4)

    def make(directory: Path) -> str:
        makers.append(threading.current_thread().name)
        return make_entry(directory)

    def ask() -> None:
        together.wait(10)
        entries.append(Cache(tmp_path).obtain("thing", make))

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(10)
    assert len(makers) == 1
    assert len(entries) == 4
    assert len(set(entries)) == 1


def test_a_cache_that_cannot_be_written_says_where_and_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(UnavailableError) as caught:
        Cache(tmp_path / "file").obtain("thing", make_entry)
    assert str(tmp_path / "file") in caught.value.where
    assert caught.value.hint.startswith("DUNNAGE_CACHE=")


@pytest.mark.parametrize(
    ("number", "told"),
    [(errno.ENOENT, False), (errno.EACCES, False), (errno.ENOSPC, True), (errno.EDQUOT, True)],
)
def test_an_error_of_the_maker_is_its_own_unless_the_disk_is_full(
    number: int, told: bool, tmp_path: Path
) -> None:
    def fail(_: Path) -> str:
        raise OSError(number, os.strerror(number))

    with pytest.raises(UnavailableError if told else OSError) as caught:
        Cache(tmp_path).obtain("thing", fail)
    assert os.strerror(number) in str(caught.value)
    assert ("cannot write the cache" in str(caught.value)) is told
    assert list((tmp_path / "building").iterdir()) == []


@pytest.mark.parametrize("place", ["locks", "building", "entries", "references"])
def test_a_cache_that_cannot_be_written_is_told_wherever_it_is(place: str, tmp_path: Path) -> None:
    (tmp_path / place).write_text("no directory")
    with pytest.raises(UnavailableError, match="cannot write the cache") as caught:
        Cache(tmp_path).obtain("thing", make_entry)
    assert caught.value.where.startswith(f"{tmp_path}/{place}")
