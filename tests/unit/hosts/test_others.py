"""What else runs on this machine is known by name, and what hosts run is not among it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from dunnage.contracts.testbed import OtherProcess
from dunnage.hosts.first_process import identity
from dunnage.hosts.others import others
from dunnage.runner.others import busy

GROUP = "/dunnage/0123abcd"


def test_this_process_is_another_one_with_its_name_and_what_it_has_used() -> None:
    found = others(GROUP)
    me = found[os.getpid(), identity(os.getpid()).born]
    assert me.name == Path("/proc/self/comm").read_text().strip()
    assert me.cpu > 0
    again = others(GROUP)[os.getpid(), identity(os.getpid()).born]
    assert again.cpu >= me.cpu


def test_what_children_of_this_process_used_is_not_counted_as_its_own() -> None:
    me = os.getpid(), identity(os.getpid()).born
    script = "import time\nwhile time.process_time() < 0.5: pass"
    subprocess.run([sys.executable, "-c", script], check=True)
    counted, times = others(GROUP)[me].cpu, os.times()
    assert times.children_user + times.children_system > 0.4
    assert counted <= times.user + times.system + 0.02  # proc(5) counts in ticks of its own


def test_whoever_is_in_the_group_is_left_out() -> None:
    own = Path("/proc/self/cgroup").read_text().splitlines()[0].split(":", 2)[2]
    assert os.getpid() not in {pid for pid, _ in others(own)}


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ({}, {}, {}),
        ({(7, 1): 10.0}, {(7, 1): 12.0}, {"x": 0.5}),
        ({(7, 1): 10.0}, {(7, 2): 2.0}, {"x": 0.5}),
        ({(7, 1): 10.0}, {}, {}),
        ({}, {(7, 1): 1.0, (8, 1): 3.0}, {"x": 1.0}),
    ],
)
def test_what_each_name_kept_busy_is_the_sum_of_its_processes(
    before: dict[tuple[int, int], float],
    after: dict[tuple[int, int], float],
    expected: dict[str, float],
) -> None:
    def named(used: dict[tuple[int, int], float]) -> dict[tuple[int, int], OtherProcess]:
        return {who: OtherProcess("x", cpu) for who, cpu in used.items()}

    assert busy(named(before), named(after), 4.0) == expected
