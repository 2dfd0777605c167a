"""How long a real Kubernetes takes to stand and to go, and a deployment beside `kubectl`'s.

Software is there before: what is built or unpacked once is not counted.
"""

from __future__ import annotations

import re
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from standing_labs import stands

from dunnage.model.layout import Software
from dunnage.software.trees import DebianSoftware

pytestmark = [
    pytest.mark.live,
    pytest.mark.proof,
    pytest.mark.quiet,
    pytest.mark.timeout(600),
]
Record = Callable[[str, object], None]
"""pytest's `record_property`: what is recorded as `seen` stands in `docs/proofs.md`."""
ROOT = Path(__file__).parents[2]
ROUNDS = 5
STANDS, GONE = 60.0, 5.0
"""Seconds within which five hosts are ready, and within which nothing of them is left."""
BESIDE_KUBECTL = 1.2


def test_five_hosts_are_ready_within_a_minute_and_gone_within_five_seconds(
    record_property: Record,
) -> None:
    """By the clock of who types the commands: from the start of each to its end."""
    DebianSoftware().kubernetes(print)
    up, down = [], []
    for _ in range(ROUNDS):
        began = time.monotonic()
        with stands("--hosts", "3", "--kubernetes") as made:
            up.append(time.monotonic() - began)
            assert len(made["hosts"]) == 5
            ended = time.monotonic()
        down.append(time.monotonic() - ended)
    record_property("seen", f"ready after {_seconds(up)}; gone after {_seconds(down)}")
    assert max(up) < STANDS
    assert max(down) < GONE


def test_a_deployment_takes_at_most_a_fifth_more_than_the_same_by_kubectl(
    record_property: Record,
) -> None:
    DebianSoftware().kubernetes(print)
    DebianSoftware().tree(Software("redis", "7.0"))
    words = (sys.executable, "bench/kubernetes.py", "--pairs", str(ROUNDS))
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, timeout=540, check=False)
    assert done.returncode == 0, done.stderr
    told = re.findall(r"^(up|down): (\d+\.\d+) × by hand.*$", done.stdout, re.MULTILINE)
    record_property("seen", ", ".join(f"{what} {ratio} × kubectl's" for what, ratio in told))
    assert [what for what, _ in told] == ["up", "down"]
    assert all(float(ratio) <= BESIDE_KUBECTL for _, ratio in told), done.stdout


def _seconds(every: list[float]) -> str:
    return ", ".join(f"{each:.1f}" for each in every) + " s"
