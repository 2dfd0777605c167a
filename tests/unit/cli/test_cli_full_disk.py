"""A disk that is full when the answer is written: measured runs stay, and `report` goes on."""

from __future__ import annotations

from pathlib import Path

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


@pytest.mark.parametrize("file", ["index.html", "answers.csv"])
def test_it_is_said_with_the_command_that_goes_on(
    dunnage: Command, tmp_path: Path, file: str
) -> None:
    result = measured(STUDY, tmp_path)
    full = result / "report" / file
    full.unlink()
    full.symlink_to("/dev/full")
    shown = dunnage("report", result)
    assert shown.code == 4
    assert "the disk is full; every finished run is kept" in shown.err
    assert f"try: dunnage report {result}" in shown.err
    full.unlink()
    assert dunnage("report", result).code == 0
    assert full.stat().st_size > 0
