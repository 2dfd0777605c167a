"""A result of a study with fakes, made by the real command."""

from __future__ import annotations

import contextlib
import json
from pathlib import Path

from dunnage.store.events import KEPT
from dunnage.store.layout import ResultLayout
from dunnage.store.read import open_result
from in_process import said_here

STUDY = """
dunnage: 1
name: small
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
"""One run that takes no time, by a fake clock."""


def written(directory: Path) -> Path:
    """The file of that study."""
    path = directory / "study.yaml"
    path.write_text(STUDY)
    return path


def measured(study: str, directory: Path) -> Path:
    """Carry out the text of a study in a directory; returns where its result lies."""
    (directory / "study.yaml").write_text(study)
    with contextlib.chdir(directory):
        code, _, said = said_here("run", "study.yaml")
    assert code == 0, said
    return open_result(directory / "results").layout.root


def a_day_later(result: Path) -> None:
    """Make a copy of a result one of another day, though all its runs are the same."""
    journal = ResultLayout(result).journal
    events = map(json.loads, journal.read_text().splitlines())
    later = (json.dumps({**event, "time": event["time"] + 86400}) for event in events)
    journal.write_text("".join(f"{line}\n" for line in later))


def without_checksums(result: Path) -> None:
    """Make it a result from before checksums, so that a test may change its files."""
    journal = ResultLayout(result).journal
    events = map(json.loads, journal.read_text().splitlines())
    older = (json.dumps({**event, "version": 1}) for event in events if event["event"] != KEPT)
    journal.write_text("".join(f"{line}\n" for line in older))
