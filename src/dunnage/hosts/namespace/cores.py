"""Which processors each group of hosts has.

The client has its own, so that it cannot slow the servers that it measures: a third of the cores,
at least one. The other groups share the rest with equal weights. A `control` group shares the
client's. Threads of one physical core are never parted while there is more than one core. Where a
study wants cores shared, every group has all of them.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from dunnage.model.choices import Cores
from dunnage.model.study import NO_MEMBERS

CONTROL_WEIGHT = 0.05
"""Share of a control host beside the client's 1."""

Core = tuple[int, ...]
"""The processors (hardware threads) of one physical core."""


@dataclass(frozen=True)
class Partition:
    """Group → its processors. `apart` tells whether clients and servers share none."""

    groups: Mapping[str, tuple[int, ...]]
    apart: bool
    siblings_parted: bool
    """Client and servers share a physical core, for want of a second one."""


def partition(
    cores: Sequence[Core], groups: Collection[str], wanted: Cores = Cores.APART
) -> Partition:
    """Part the cores between the client's group (and `control`) and all others, where wanted."""
    everything = tuple(sorted(processor for core in cores for processor in core))
    clients = [group for group in groups if group in NO_MEMBERS]
    servers = [group for group in groups if group not in clients]
    if wanted is Cores.SHARED or len(everything) == 1 or not clients or not servers:
        return Partition(dict.fromkeys(groups, everything), False, False)
    parts = list(cores) if len(cores) > 1 else [(processor,) for processor in everything]
    count = max(1, len(parts) // 3)
    mine = tuple(sorted(processor for part in parts[:count] for processor in part))
    rest = tuple(sorted(processor for part in parts[count:] for processor in part))
    given = {group: mine if group in clients else rest for group in groups}
    return Partition(given, True, siblings_parted=len(cores) == 1)


def usable_cores(system: Path = Path("/sys/devices/system/cpu")) -> tuple[Core, ...]:
    """The physical cores on which this process may run, each with its processors."""
    allowed = os.sched_getaffinity(0)
    cores: dict[Core, None] = {}
    for processor in sorted(allowed):
        listed = system / f"cpu{processor}" / "topology" / "thread_siblings_list"
        siblings = processors(listed.read_text()) if listed.exists() else (processor,)
        cores.setdefault(tuple(one for one in siblings if one in allowed))
    return tuple(cores)


def processors(text: str) -> tuple[int, ...]:
    """Read the kernel's list of processors, such as `0-2,5`."""
    numbers: list[int] = []
    for part in text.strip().split(","):
        first, _, last = part.partition("-")
        if first:
            numbers.extend(range(int(first), int(last or first) + 1))
    return tuple(numbers)


def mask(cores: Sequence[int]) -> str:
    """Write processors as the kernel's hexadecimal mask, in groups of 32 bits."""
    number = sum(1 << core for core in cores)
    shifts = reversed(range(0, max(number.bit_length(), 1), 32))
    words = [f"{number >> shift & 0xFFFFFFFF:08x}" for shift in shifts]
    return ",".join(words).lstrip("0") or "0"
