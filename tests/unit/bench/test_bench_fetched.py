"""Peers that packages offer: what is kept of them, and what is told when they cannot be had."""

from __future__ import annotations

import tarfile
from collections.abc import Mapping
from pathlib import Path

import pytest
from engine import codec, crates, jars, stress
from engine.table import ENGINE

from dunnage.errors import UnavailableError
from dunnage.software import maven


def fetched(artefact: str, known: Mapping[str, str], directory: Path) -> None:
    """An archive with a program and its documentation."""
    directory.mkdir()
    (name,) = known
    content = directory.parent / "content"
    for part in ("lib/stress.jar", "tools/lib/more.jar", "doc/page.html", "README.txt"):
        (content / part).parent.mkdir(parents=True, exist_ok=True)
        (content / part).write_text(artefact)
    with tarfile.open(directory / name, "w:gz") as archive:
        for path in sorted(content.rglob("*")):
            archive.add(path, Path("thing-1") / path.relative_to(content), recursive=False)


def test_of_an_archive_the_program_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DUNNAGE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(maven, "fetch", fetched)
    known = tmp_path / "thing-1.sha256"
    known.write_text(f"{'0' * 64}  thing-1-bin.tar.gz\n")
    home = jars.unpacked("group:thing:1:tar.gz:bin", known)
    assert home.name == "thing-1"
    kept = {str(path.relative_to(home)) for path in home.rglob("*") if path.is_file()}
    assert kept == {"lib/stress.jar", "tools/lib/more.jar"}


def test_the_archive_of_cassandra_stress_is_known_by_its_digest() -> None:
    digest, name = stress._KNOWN.read_text().split()
    assert len(digest) == 64
    assert name == f"apache-cassandra-{stress.VERSION}-bin.tar.gz"


def cargo(directory: Path, script: str) -> None:
    directory.mkdir()
    program = directory / "cargo"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)


def test_a_program_of_a_crate_is_built_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DUNNAGE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("PATH", f"{tmp_path}/tools:/usr/bin:/bin")
    monkeypatch.setenv("CARGO_BUILD_TARGET", "another")
    cargo(
        tmp_path / "tools",
        f'[ -z "$CARGO_BUILD_TARGET" ] && echo "$@" >> {tmp_path}/words && '
        "mkdir bin target && touch bin/thing",
    )
    for _ in range(2):
        program = crates.built("thing-cli", "1.2.3", "thing")
    assert program.is_file()
    assert not (program.parents[1] / "target").exists()
    (words,) = (tmp_path / "words").read_text().splitlines()
    assert words.startswith("install thing-cli --version 1.2.3 --locked ")


def test_what_cargo_says_is_repeated_without_addresses(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DUNNAGE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("PATH", f"{tmp_path}/tools:/usr/bin:/bin")
    cargo(tmp_path / "tools", "echo 'error: no https://mirror.example/a' >&2; exit 101")
    with pytest.raises(
        UnavailableError, match=r"cargo cannot build `thing-cli`: error: no …$"
    ) as caught:
        crates.built("thing-cli", "1.2.3", "thing")
    assert caught.value.hint == "cargo install thing-cli --version 1.2.3 --locked"


def line(task: str, name: str, cpu: float) -> str:
    numbers = f'"operations": 10, "seconds": 1.0, "cpu": {cpu}'
    return f'{{"task": "{task}", "codec": "{name}", {numbers}}}\n'


def test_the_cheapest_codec_is_told() -> None:
    said = "".join(
        line(task, name, cpu)
        for task, name, cpu in (
            ("request", "engine", 1.0),
            ("request", "fred's codec", 4.0),
            ("answer", "engine", 2.0),
            ("answer", "fred's codec", 1.0),
        )
    )
    rows, verdict = codec.told(said)
    assert [(row.load, row.client) for row in rows] == [
        ("request", ENGINE),
        ("request", "fred's codec"),
        ("answer", ENGINE),
        ("answer", "fred's codec"),
    ]
    assert verdict == (
        "The engine's own codec needs the least CPU in 1 of 2 tasks, not for: answer. Its share of "
        "what the others need is 0.25 to 2.00."
    )
