"""Who owns a lab, and who measures."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from dunnage.errors import UnavailableError
from dunnage.hosts import clean, lab, machine_lock
from dunnage.hosts.control_groups import groups
from dunnage.hosts.first_process import Identity, identity, running
from dunnage.hosts.lab import Owner, become_root, is_lab, is_roots
from dunnage.hosts.machine_facts import cpu_model
from dunnage.hosts.machine_lock import forget_measuring, measuring

HOLD = """
import sys
from pathlib import Path
from dunnage.hosts.machine_lock import measuring
with measuring("other", print, lock=Path(sys.argv[1])):
    sys.stdout.write("held\\n")
    sys.stdout.flush()
    sys.stdin.read()
"""

COUNT = """
import sys
from pathlib import Path
from dunnage.hosts.held_file import hold, let_go
lock, number = map(Path, sys.argv[1:])
for _ in range(50):
    file = hold(lock)
    number.write_text(str(int(number.read_text()) + 1))
    let_go(lock, file)
"""


def test_an_owner_is_read_as_it_was_written() -> None:
    me = identity(os.getpid())
    owner = Owner("study", me, {"db-1": Identity(7, 99)}, keep=True)
    assert Owner.read(owner.text()) == owner


@pytest.mark.parametrize("text", ["", "{}", '{"version": 1}'])
def test_what_is_no_owner_is_refused(text: str) -> None:
    with pytest.raises((ValueError, KeyError)):
        Owner.read(text)


def test_a_process_is_told_from_a_later_one_of_the_same_number() -> None:
    me = identity(os.getpid())
    assert me.alive()
    impostor = replace(me, born=me.born - 1)
    assert not impostor.alive()
    impostor.kill()
    assert me.alive()


def test_a_dead_process_is_no_one_even_before_it_is_reaped() -> None:
    child = subprocess.Popen(["sleep", "300"])
    found = identity(child.pid)
    found.kill()
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
    assert running(child.pid) is None
    assert not found.alive()
    child.wait()
    found.kill()
    with pytest.raises(ProcessLookupError):
        identity(2**22 + 1)


def test_who_must_wait_is_told_for_whom(tmp_path: Path) -> None:
    lock = tmp_path / "measure.lock"
    other = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(lock)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert other.stdin is not None and other.stdout is not None
    assert other.stdout.readline() == "held\n"
    told: list[str] = []

    def on_wait(sentence: str) -> None:
        told.append(sentence)
        other.kill()

    with measuring("mine", on_wait, lock=lock):
        assert f"`other` (process {other.pid})" in told[0]
    other.communicate()
    assert not lock.exists()


def test_a_lock_that_goes_with_its_holders_is_never_held_twice(tmp_path: Path) -> None:
    """Each holder reads a number and writes the next one, which two at once would lose."""
    number = tmp_path / "number"
    number.write_text("0")
    lock = tmp_path / "state" / "lock"
    words = [sys.executable, "-c", COUNT, str(lock), str(number)]
    others = [subprocess.Popen(words) for _ in range(4)]
    assert [other.wait(60) for other in others] == [0] * 4
    assert number.read_text() == "200"
    assert not lock.parent.exists()


def test_what_one_who_was_killed_while_measuring_left_is_removed(tmp_path: Path) -> None:
    (tmp_path / "another file").touch()
    lock = tmp_path / "measure.lock"
    with measuring("mine", lambda _: None, lock=lock):
        forget_measuring(lock=lock)
        assert lock.exists()
    lock.write_text("{}")
    forget_measuring(lock=lock)
    assert not lock.exists()


def test_a_lock_that_cannot_be_written_is_told_with_what_to_type(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()

    def refused(lock: Path) -> UnavailableError:
        with pytest.raises(UnavailableError) as raised, measuring("mine", print, lock=lock):
            raise AssertionError("it is not locked")
        return raised.value

    found = refused(tmp_path / "file" / "measure.lock")
    assert found.what.endswith("/measure.lock` cannot be written: Not a directory")
    assert found.hint == f"df {tmp_path}"

    def forbidden(*_: object, **__: object) -> int:
        raise PermissionError

    monkeypatch.setattr(machine_lock, "hold", forbidden)
    found = refused(tmp_path / "measure.lock")
    assert found.what.endswith("only root can lock this machine")
    assert found.hint == become_root()


def test_who_is_alone_is_told_nothing(tmp_path: Path) -> None:
    told: list[str] = []
    for _ in range(2):
        with measuring("mine", told.append, lock=tmp_path / "measure.lock"):
            assert told == []


def test_a_processor_without_a_name_goes_by_its_architecture() -> None:
    assert cpu_model("processor : 0\nmodel name\t: Fast One\n", "arm64") == "Fast One"
    assert cpu_model("processor : 0\n", "arm64") == "arm64"


def test_only_names_that_labs_get_are_labs() -> None:
    assert is_lab("0123abcd")
    for name in ("", "0123abc", "0123abcde", "0123ABCD", "..", "docker", "0123abcd\n"):
        assert not is_lab(name)


def test_a_link_to_a_directory_of_roots_is_not_one(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("/etc")
    (tmp_path / "file").touch()
    assert is_roots(Path("/etc"))
    for name in ("link", "file", "nothing"):
        assert not is_roots(tmp_path / name)


class NoGroups:
    """Control groups of which none is a lab's."""

    def children(self, group: str) -> tuple[str, ...]:
        return ("system",)

    def thaw(self, group: str) -> None:
        pass

    def remove(self, group: str) -> bool:
        return True

    def remove_empty(self, group: str) -> None:
        pass


@pytest.mark.parametrize("state", [False, True])
def test_what_lies_behind_a_users_link_is_never_cleaned(
    state: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    treasure, labs = tmp_path / "elsewhere/0123abcd", tmp_path / "labs"
    treasure.mkdir(parents=True)
    labs.mkdir()
    (tmp_path / "link").symlink_to(treasure.parent)
    monkeypatch.setattr(clean, "LABS", labs)
    monkeypatch.setattr(clean, "SCRATCH", tmp_path / "link")
    # The test's own directories pass for root's whoever runs it; a link never does.
    monkeypatch.setattr(clean, "is_roots", lambda path: path.is_dir() and not path.is_symlink())
    if state:
        (labs / "0123abcd").mkdir()
        (labs / "not-a-lab").mkdir()
    found = clean.clean_held(NoGroups(), kept=True)  # type: ignore[arg-type]
    assert [each.lab for each in found] == (["0123abcd"] if state else [])
    assert treasure.exists()
    assert [path.name for path in labs.iterdir()] == (["not-a-lab"] if state else [])


def test_no_lab_is_made_on_a_place_of_someone_elses(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "link").symlink_to("/etc")
    monkeypatch.setattr(lab, "SCRATCH", tmp_path / "link")
    monkeypatch.setattr(lab, "LABS", tmp_path)
    with pytest.raises(UnavailableError, match="not a directory that root owns"):
        lab.Lab.make("test")
    assert [path.name for path in tmp_path.iterdir()] == ["link"]


def test_each_host_has_a_machine_id_that_it_keeps(tmp_path: Path) -> None:
    made = lab.Lab("0123abcd", "test", -1)
    made.directory = tmp_path
    first, second = made.machine_id("db-1").read_text(), made.machine_id("db-2").read_text()
    assert re.fullmatch(r"[0-9a-f]{32}\n", first)
    assert first != second
    assert made.machine_id("db-1").read_text() == first


@pytest.fixture
def child() -> Iterator[subprocess.Popen[bytes]]:
    """Whoever ends it, it stays defunct until this process, its parent, reaps it."""
    process = subprocess.Popen(["sleep", "300"])
    yield process
    process.kill()
    process.wait()


@pytest.fixture
def left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, child: subprocess.Popen[bytes]
) -> tuple[Path, Identity]:
    """The directory of a lab without an owner, and its host's first process, which lives."""
    monkeypatch.setattr(clean, "LABS", tmp_path / "labs")
    monkeypatch.setattr(clean, "SCRATCH", tmp_path / "scratch")
    monkeypatch.setattr(clean, "is_roots", lambda path: path.is_dir() and not path.is_symlink())
    directory, first = tmp_path / "labs/0123abcd", identity(child.pid)
    directory.mkdir(parents=True)
    owner = Owner("study", replace(first, born=first.born - 1), {"db-1": first})
    (directory / "owner.json").write_text(owner.text())
    return directory, first


def test_clean_waits_until_a_process_that_it_ended_is_reaped(
    left: tuple[Path, Identity], child: subprocess.Popen[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    directory, first = left
    gone: list[bool] = []

    def until(done: Callable[[], bool]) -> bool:
        os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
        gone.append(done())  # it is defunct
        child.wait()
        gone.append(done())
        return groups.until(done)

    monkeypatch.setattr(clean, "until", until)
    removed = clean.clean_held(NoGroups(), kept=False)  # type: ignore[arg-type]
    assert [each.lab for each in removed] == [directory.name]
    assert gone == [False, True]
    assert not first.there()
    assert not directory.exists()


def test_clean_does_not_wait_forever_for_a_process_that_nobody_reaps(
    left: tuple[Path, Identity], monkeypatch: pytest.MonkeyPatch
) -> None:
    directory, first = left
    monkeypatch.setattr(groups, "_PATIENCE", 0.0)
    removed = clean.clean_held(NoGroups(), kept=False)  # type: ignore[arg-type]
    assert [each.lab for each in removed] == [directory.name]
    os.waitid(os.P_PID, first.pid, os.WEXITED | os.WNOWAIT)
    assert first.there() and not first.alive()
    assert not directory.exists()
