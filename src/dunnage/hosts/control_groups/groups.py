"""Control groups, whichever version this machine has them in.

A lab's groups are `/dunnage/<lab>/<host>/<unit>` below every hierarchy (version 1) or below the
unified mount (version 2). Processes live in units only, as version 2 demands, and there in a group
of their own, for a client's containers are in units as well.
"""

from __future__ import annotations

import contextlib
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

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


class ControlGroups(ABC):
    """The groups of this machine. Names of groups are absolute, below each hierarchy."""

    version: ClassVar[int]
    """1 or 2."""

    def __init__(self, *hierarchies: Path) -> None:
        self._hierarchies = hierarchies
        """Wherever a group may have a directory."""

    @abstractmethod
    def make(self, group: str, shape: Shape) -> None:
        """Make a group whose parents exist, or give an existing one another shape."""

    @abstractmethod
    def join_files(self, group: str) -> tuple[Path, ...]:
        """Files into which a process of one thread writes `0` to join the group or one below."""

    @abstractmethod
    def freeze(self, group: str) -> None:
        """Hold the processes of a group still; returns when they are."""

    @abstractmethod
    def thaw(self, group: str) -> None:
        """Let them go on, and what is frozen below; what stands still might not even die."""

    def children(self, group: str) -> tuple[str, ...]:
        """Names of the groups right below one, in any hierarchy."""
        names: set[str] = set()
        for directory in self._directories(group):
            with contextlib.suppress(FileNotFoundError):
                names.update(path.name for path in directory.iterdir() if path.is_dir())
        return tuple(sorted(names))

    def remove(self, group: str) -> bool:
        """Remove a group with all below it; False when processes in it do not end."""
        return until(lambda: self._try_to_remove(group))

    def remove_empty(self, group: str) -> None:
        """Remove a group if nothing is in it."""
        for directory in self._directories(group):
            with contextlib.suppress(OSError):
                directory.rmdir()

    def _directories(self, group: str) -> tuple[Path, ...]:
        return tuple(below(hierarchy, group) for hierarchy in self._hierarchies)

    def _bottom_up(self, group: str) -> Iterator[Path]:
        for directory in self._directories(group):
            yield from bottom_up(directory)

    def _try_to_remove(self, group: str) -> bool:
        """Remove its directories with all below them; False while processes are in one."""
        busy = False
        for directory in self._bottom_up(group):
            try:
                directory.rmdir()
            except FileNotFoundError:
                continue
            except OSError:
                busy = True
        return not busy


def below(hierarchy: Path, group: str) -> Path:
    """Directory of a group."""
    return hierarchy / group.strip("/")


def until(done: Callable[[], bool], seconds: float = _PATIENCE) -> bool:
    """Ask the kernel until it has carried something out; False when it has not in time."""
    deadline = time.monotonic() + seconds
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
