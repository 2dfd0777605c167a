"""Processes of this machine that belong to no host of a lab, with what each has used."""

from __future__ import annotations

import os
from pathlib import Path

from dunnage.contracts.testbed import OtherProcess

_TICK = 1 / os.sysconf("SC_CLK_TCK")
"""Seconds in which proc(5) counts processor time."""
_OWN, _WITH_CHILDREN = slice(11, 13), slice(11, 15)
"""Places of the user and system time among the fields: its own, and then that of children it waited
for. A program that starts many short ones is known by the latter. Our own children are what hosts
run, which is nobody else's."""
_BORN = 19


def others(group: str) -> dict[tuple[int, int], OtherProcess]:
    """Process id and start time → every process outside a control group, kernel threads too."""
    found = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                stat = (entry / "stat").read_text(errors="replace")
                groups = (entry / "cgroup").read_text(errors="replace")
            except OSError:
                continue  # it has ended
            if not _inside(groups, group):
                head, _, tail = stat.rpartition(")")
                fields = tail.split()
                times = fields[_OWN if int(entry.name) == os.getpid() else _WITH_CHILDREN]
                name, cpu = head.partition("(")[2], sum(map(int, times)) * _TICK
                found[int(entry.name), int(fields[_BORN])] = OtherProcess(name, cpu)
    return found


def _inside(groups: str, group: str) -> bool:
    """Whether a process whose control groups proc(5) tells so is in a group or below it."""
    paths = (line.split(":", 2)[2] for line in groups.splitlines())
    return any(path == group or path.startswith(f"{group}/") for path in paths)
