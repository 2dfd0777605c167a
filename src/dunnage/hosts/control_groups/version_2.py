"""Control groups, version 2: one hierarchy."""

from __future__ import annotations

import contextlib
from pathlib import Path

from dunnage.errors import RunError
from dunnage.hosts.control_groups.groups import (
    Shape,
    bottom_up,
    process_ids,
    remove_directories,
    remove_empty_directories,
    until,
)
from dunnage.model.deployment import QUOTA_PERIOD

_WANTED = ("cpu", "cpuset", "memory", "io", "pids")


class VersionTwo:
    """Groups below the unified mount. Controllers are handed down from the root on demand."""

    version = 2

    def __init__(self, root: Path) -> None:
        self._root = root

    def make(self, group: str, shape: Shape) -> None:
        directory = self._below(group)
        self._hand_down(directory.parent)
        directory.mkdir(exist_ok=True)
        if shape.cores is not None:
            self._write(directory, "cpuset.cpus", ",".join(map(str, shape.cores)))
        weight = round(100 * min(max(shape.weight, 0.01), 100.0))
        self._write(directory, "cpu.weight", weight)
        quota = "max" if shape.cpus is None else max(1000, round(shape.cpus * QUOTA_PERIOD))
        self._write(directory, "cpu.max", f"{quota} {QUOTA_PERIOD}")
        self._write(directory, "memory.max", "max" if shape.memory is None else shape.memory)
        # The limit holds for memory and swap together, as in version 1.
        self._write(directory, "memory.swap.max", "max" if shape.memory is None else 0)
        self._write(directory, "pids.max", "max" if shape.pids is None else shape.pids)

    def join_files(self, group: str) -> tuple[Path, ...]:
        return (self._below(group) / "cgroup.procs",)

    def freeze(self, group: str) -> None:
        directory = self._below(group)
        (directory / "cgroup.freeze").write_text("1")
        if not until(lambda: "frozen 1" in (directory / "cgroup.events").read_text()):
            self.thaw(group)
            raise RunError("its processes cannot be frozen", where=group)

    def thaw(self, group: str) -> None:
        for frozen in bottom_up(self._below(group)):
            with contextlib.suppress(OSError):
                (frozen / "cgroup.freeze").write_text("0")

    def processes(self, group: str) -> tuple[int, ...]:
        return tuple(sorted(process_ids(self._below(group))))

    def children(self, group: str) -> tuple[str, ...]:
        with contextlib.suppress(FileNotFoundError):
            return tuple(sorted(p.name for p in self._below(group).iterdir() if p.is_dir()))
        return ()

    def remove(self, group: str) -> bool:
        return until(lambda: remove_directories(self._below(group)))

    def remove_empty(self, group: str) -> None:
        remove_empty_directories(self._below(group))

    def _hand_down(self, directory: Path) -> None:
        """Offer the wanted controllers, those that there are, to the children of a group."""
        offered = (directory / "cgroup.controllers").read_text().split()
        for controller in _WANTED:
            if controller in offered:
                (directory / "cgroup.subtree_control").write_text(f"+{controller}")

    def _write(self, directory: Path, name: str, value: object) -> None:
        file = directory / name
        if file.exists():
            file.write_text(str(value))

    def _below(self, group: str) -> Path:
        return self._root / group.strip("/")
