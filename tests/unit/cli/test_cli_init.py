"""`dunnage init` writes a study of what was chosen, and never over a file."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from pathlib import Path

import pytest
from command import Command

from dunnage import catalog
from dunnage.cli import init
from dunnage.study.read import read_study


@pytest.mark.parametrize(
    ("words", "testbed", "database", "deployments"),
    [
        ((), "namespace", "redis", ["native", "docker-host", "docker-bridge"]),
        (("--database", "cassandra", "--platform", "docker"), "namespace", "cassandra", None),
        (("--database", "fake"), "fake", "fake", ["fake-plain", "fake-late"]),
    ],
)
def test_it_writes_what_was_chosen_and_else_all_that_go_together(
    dunnage: Command,
    tmp_path: Path,
    words: tuple[str, ...],
    testbed: str,
    database: str,
    deployments: list[str] | None,
) -> None:
    path = tmp_path / "mine.yaml"
    shown = dunnage("init", path, *words)
    assert shown.code == 0
    assert shown.out.strip() == str(path)
    study = read_study(path.read_text(), str(path), catalog.OFFER)
    assert (study.name, study.testbed.kind, study.database.kind) == ("mine", testbed, database)
    assert list(study.deployments) == (deployments or ["docker-host", "docker-bridge"])


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--database", "rdis"), "unknown database `rdis`"),
        (("--platform", "native", "--platform", "doker"), "unknown platform `doker`"),
    ],
)
def test_what_is_not_on_offer_is_refused_and_nothing_is_written(
    dunnage: Command, tmp_path: Path, words: tuple[str, ...], told: str
) -> None:
    path = tmp_path / "mine.yaml"
    shown = dunnage("init", path, *words)
    assert shown.code == 2
    assert told in shown.err
    assert "did you mean" in shown.err
    assert not path.exists()


def test_a_file_that_is_there_stays_as_it_is(dunnage: Command, tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text("mine\n")
    assert dunnage("init", path).code == 2
    assert path.read_text() == "mine\n"


@pytest.mark.parametrize("words", [(), ("--platform", "docker"), ("--database", "cassandra")])
def test_what_it_suggests_works_when_uncommented(
    dunnage: Command, tmp_path: Path, words: tuple[str, ...]
) -> None:
    path = tmp_path / "mine.yaml"
    assert dunnage("init", path, *words).code == 0
    lines = path.read_text().splitlines(keepends=True)
    suggested = [line for line in lines if line.startswith("#  ") and "storage" in line]
    assert len(suggested) == 1
    path.write_text("".join(line[1:] if line in suggested else line for line in lines))
    before = read_study("".join(lines), str(path), catalog.OFFER)
    after = read_study(path.read_text(), str(path), catalog.OFFER)
    assert len(after.deployments) == len(before.deployments) + 1


def test_a_file_that_cannot_be_written_whole_is_not_left_behind(tmp_path: Path) -> None:
    """No file may grow here: the file is made, and then there is no room for its text."""
    path = tmp_path / "mine.yaml"
    command = [sys.executable, "-m", "dunnage", "init", str(path)]
    ended = subprocess.run(
        ["sh", "-c", 'ulimit -f 0; exec "$@"', "sh", *command],
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert ended.returncode == 2
    assert f"{path}: cannot write: " in ended.stderr
    assert "  try: " in ended.stderr
    assert not path.exists()


def test_what_is_suggested_in_place_of_a_file_is_free(dunnage: Command, tmp_path: Path) -> None:
    for name in ("mine.yaml", "mine-2.yaml"):
        (tmp_path / name).write_text("mine\n")
    shown = dunnage("init", tmp_path / "mine.yaml")
    assert f"try: dunnage init {tmp_path / 'mine-3.yaml'}" in shown.err
    (tmp_path / "study.yaml").write_text("mine\n")
    shown = dunnage("init", tmp_path)
    assert f"try: dunnage init {tmp_path / 'study-2.yaml'}" in shown.err


@pytest.mark.parametrize(
    ("path", "why"),
    [
        ("/proc/x.yaml", "/proc takes no files"),
        ("/proc/no/such/x.yaml", "/proc takes no files"),
        ("/sys/x.yaml", "/sys takes no files"),
        ("/dev/null/x.yaml", "/dev/null is no directory"),
    ],
)
def test_a_place_that_takes_no_files_is_told_and_another_is_advised(
    dunnage: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, path: str, why: str
) -> None:
    monkeypatch.chdir(tmp_path)
    for advised in ("x.yaml", "x-2.yaml"):
        shown = dunnage("init", path, "--database", "redis")
        assert shown.code == 2
        assert f"{path}: cannot write: {why}\n" in shown.err
        assert shown.err.endswith(f"try: dunnage init {advised} --database redis\n")
        assert dunnage("init", advised, "--database", "redis").code == 0


def test_who_stands_where_no_file_can_be_is_led_elsewhere(
    dunnage: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir("/proc")
    monkeypatch.setenv("HOME", str(tmp_path))
    shown = dunnage("init")
    assert "study.yaml: cannot write: this directory takes no files\n" in shown.err
    assert shown.err.endswith(f"try: dunnage init {tmp_path / 'study.yaml'}\n")


@pytest.mark.parametrize(
    ("number", "advised"),
    [
        (errno.EACCES, "chmod u+wx -- {0}, then: dunnage init {0}/x.yaml"),
        (errno.EPERM, "dunnage init x.yaml"),
        (errno.ENOSPC, "free some space, then: dunnage init {0}/x.yaml"),
        (errno.ENAMETOOLONG, "dunnage init study.yaml"),
    ],
)
@pytest.mark.parametrize("mine", [True, False])
def test_what_helps_fits_what_was_in_the_way(
    dunnage: Command,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    number: int,
    advised: str,
    mine: bool,
) -> None:
    place, here = tmp_path / "place", tmp_path / "here"
    place.mkdir()
    here.mkdir()
    monkeypatch.chdir(here)
    access = os.access
    monkeypatch.setattr(os, "access", lambda at, mode: at != place and access(at, mode))
    monkeypatch.setattr(os, "geteuid", lambda: place.stat().st_uid + (not mine))

    def refused(path: Path, _text: str) -> None:
        raise OSError(number, os.strerror(number), str(path))

    monkeypatch.setattr(init, "_write_new", refused)
    shown = dunnage("init", place / "x.yaml")
    if number == errno.EACCES and not mine:
        advised = "dunnage init x.yaml"
    assert shown.code == 2
    assert shown.err.endswith(f"try: {advised.format(place)}\n")


def unknown() -> Path:
    raise RuntimeError


def test_nothing_is_advised_on_a_file_system_that_cannot_be_written(
    dunnage: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(os, "access", lambda *_: False)
    monkeypatch.setattr(Path, "home", unknown)

    def refused(path: Path, _text: str) -> None:
        raise OSError(errno.EROFS, os.strerror(errno.EROFS), str(path))

    monkeypatch.setattr(init, "_write_new", refused)
    shown = dunnage("init")
    assert "study.yaml: cannot write: Read-only file system\n" in shown.err
    assert "try: name a file where you may write: dunnage init FILE\n" in shown.err


@pytest.mark.parametrize("writable", [True, False])
def test_a_study_that_is_missing_is_advised_where_it_can_be_written(
    dunnage: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, writable: bool
) -> None:
    path = tmp_path / "study.yaml"
    access = os.access
    monkeypatch.setattr(
        os, "access", lambda place, mode: writable if place == tmp_path else access(place, mode)
    )
    shown = dunnage("plan", path)
    assert shown.code == 2
    assert shown.err.endswith(f"try: dunnage init {path}\n" if writable else "try: dunnage init\n")
