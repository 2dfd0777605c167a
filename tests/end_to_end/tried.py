"""The study that hostile attempts spoil, and what stands beside it."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

STUDY = """\
dunnage: 1
name: tried
testbed: {kind: fake, hosts: {db: 3, client: 1}}
database: {kind: fake, topology: sharded, members: 3, version: "1.0"}
deployments:
  plain: {platform: fake, network: plain}
  late: {platform: fake, network: late}
twin: plain
workloads: [A]
records: 100
load: {rate: [2000], connections: 16, warmup: 1s, duration: 4s}
blocks: 6
generator: fake
sampler: {kind: fake, rate: 5Hz}
questions:
  Q1: {baseline: plain, against: [late], metric: throughput, tolerance: 3%}
"""
"""Right as it stands; every attempt spoils it in one way."""


def changed(*pairs: tuple[str, str]) -> str:
    """The study with something else in place of a part of it."""
    text = STUDY
    for old, new in pairs:
        assert old in text, old
        text = text.replace(old, new)
    return text


def study(content: str | bytes) -> Callable[[Path], None]:
    """`study.yaml` holds this."""

    def arrange(directory: Path) -> None:
        path = directory / "study.yaml"
        path.write_bytes(content if isinstance(content, bytes) else content.encode())

    return arrange


def nothing(_: Path) -> None:
    """The directory is empty."""


def a_pipe(directory: Path) -> None:
    os.mkfifo(directory / "study.yaml")


def a_directory(directory: Path) -> None:
    (directory / "study.yaml").mkdir()


def a_pipe_among_schemas(directory: Path) -> None:
    os.mkfifo(directory / "study.schema.json")


def a_link(target: str) -> Callable[[Path], None]:
    """`study.yaml` is a link."""

    def arrange(directory: Path) -> None:
        (directory / "study.yaml").symlink_to(target)

    return arrange


def a_file(name: str, text: str = "") -> Callable[[Path], None]:
    """The study is right, and another file is there."""

    def arrange(directory: Path) -> None:
        study(STUDY)(directory)
        (directory / name).write_text(text)

    return arrange
