"""Control groups, whichever version this machine has them in.

A lab's groups are `/dunnage/<lab>/<host>/<unit>` below every hierarchy (version 1) or below the
unified mount (version 2). Processes live in units only, as version 2 demands.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

TOP = "/dunnage"
"""Above the groups of all labs."""
CONTROLLERS = ("cpu", "cpuacct", "cpuset", "memory", "blkio", "pids", "freezer")
"""What is used where it is mounted."""
MOST_WEIGHT = 256.0
_PATIENCE = 10.0
"""Seconds in which the kernel must have carried out what it was told."""


@dataclass(frozen=True)
class Shape:
    """What a group may use. None means no limit of its own; `weight` is a share, 1 the default."""

    cores: tuple[int, ...] | None = None
    memory: int | None = None
    """Bytes, swap included."""
    cpus: float | None = None
    """Processors' worth of time."""
    pids: int | None = None
    weight: float = 1.0


class ControlGroups(Protocol):
    """The groups of this machine. Names of groups are absolute, below each hierarchy."""

    @property
    def version(self) -> int:
        """1 or 2."""

    def make(self, group: str, shape: Shape) -> None:
        """Make a group whose parents exist, or give an existing one another shape."""

    def join_files(self, group: str) -> tuple[Path, ...]:
        """Files into which a process of one thread writes `0` to join the group."""

    def freeze(self, group: str) -> None:
        """Hold the processes of a group still; returns when they are."""

    def thaw(self, group: str) -> None:
        """Let them go on, and what is frozen below; what stands still might not even die."""

    def processes(self, group: str) -> tuple[int, ...]:
        """Process ids in a group and all below it."""

    def children(self, group: str) -> tuple[str, ...]:
        """Names of the groups right below one, in any hierarchy."""

    def remove(self, group: str) -> bool:
        """Remove a group with all below it; False when processes in it do not end."""

    def remove_empty(self, group: str) -> None:
        """Remove a group if nothing is in it."""


def until(done: Callable[[], bool]) -> bool:
    """Ask the kernel until it has carried something out; False when it has not in ten seconds."""
    deadline = time.monotonic() + _PATIENCE
    while not done():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.005)
    return True


def bottom_up(directory: Path) -> Iterator[Path]:
    """Every directory below and including this one, children first; those that vanish are left."""
    with contextlib.suppress(FileNotFoundError):
        for child in directory.iterdir():
            if child.is_dir():
                yield from bottom_up(child)
        yield directory


def remove_directories(*directories: Path) -> bool:
    """Remove a group's directories with all below them; False while processes are in one."""
    busy = False
    for group in (group for directory in directories for group in bottom_up(directory)):
        try:
            group.rmdir()
        except FileNotFoundError:
            continue
        except OSError:
            busy = True
    return not busy


def remove_empty_directories(*directories: Path) -> None:
    """Remove groups' directories where nothing is in them."""
    for directory in directories:
        with contextlib.suppress(OSError):
            directory.rmdir()


def process_ids(directory: Path) -> frozenset[int]:
    """Processes in a group and all below it."""
    found: set[int] = set()
    for group in bottom_up(directory):
        with contextlib.suppress(OSError):
            found.update(int(pid) for pid in (group / "cgroup.procs").read_text().split())
    return frozenset(found)
