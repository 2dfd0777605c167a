"""Control groups, version 1: a hierarchy for each controller."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from pathlib import Path

from dunnage.errors import RunError
from dunnage.hosts.control_groups.groups import (
    MOST_WEIGHT,
    Shape,
    bottom_up,
    process_ids,
    remove_directories,
    remove_empty_directories,
    until,
)
from dunnage.model.deployment import QUOTA_PERIOD


class VersionOne:
    """Controller → where its hierarchy is mounted; some may share one mount.

    Groups are made in those. Container runtimes make theirs in the `others` too, below the same
    names, so what is removed is looked for there as well.
    """

    version = 1

    def __init__(self, mounts: Mapping[str, Path], others: Sequence[Path] = ()) -> None:
        self._mounts = dict(mounts)
        self._roots = tuple(dict.fromkeys(mounts.values()))
        self._everywhere = (*self._roots, *others)

    def make(self, group: str, shape: Shape) -> None:
        for root in self._roots:
            _below(root, group).mkdir(exist_ok=True)
        self._set_cores(group, shape.cores)
        self._set_memory(group, shape.memory)
        shares = round(1024 * min(max(shape.weight, 2 / 1024), MOST_WEIGHT))
        self._write("cpu", group, "cpu.shares", shares)
        quota = -1 if shape.cpus is None else max(1000, round(shape.cpus * QUOTA_PERIOD))
        self._write("cpu", group, "cpu.cfs_period_us", QUOTA_PERIOD)
        self._write("cpu", group, "cpu.cfs_quota_us", quota)
        self._write("pids", group, "pids.max", "max" if shape.pids is None else shape.pids)

    def join_files(self, group: str) -> tuple[Path, ...]:
        # `tasks`, not `cgroup.procs`: for a thread that moves itself the kernel takes no global
        # lock, which spares some ten milliseconds for each hierarchy.
        return tuple(_below(root, group) / "tasks" for root in self._roots)

    def freeze(self, group: str) -> None:
        state = self._file("freezer", group, "freezer.state")
        state.write_text("FROZEN")
        if not until(lambda: state.read_text().strip() == "FROZEN"):
            state.write_text("THAWED")
            raise RunError("its processes cannot be frozen", where=group)

    def thaw(self, group: str) -> None:
        if "freezer" in self._mounts:
            for frozen in bottom_up(_below(self._mounts["freezer"], group)):
                with contextlib.suppress(OSError):
                    (frozen / "freezer.state").write_text("THAWED")

    def processes(self, group: str) -> tuple[int, ...]:
        found = [process_ids(_below(root, group)) for root in self._everywhere]
        return tuple(sorted(frozenset[int]().union(*found)))

    def children(self, group: str) -> tuple[str, ...]:
        found: set[str] = set()
        for root in self._everywhere:
            with contextlib.suppress(FileNotFoundError):
                found.update(path.name for path in _below(root, group).iterdir() if path.is_dir())
        return tuple(sorted(found))

    def remove(self, group: str) -> bool:
        self.thaw(group)
        directories = [_below(root, group) for root in self._everywhere]
        return until(lambda: remove_directories(*directories))

    def remove_empty(self, group: str) -> None:
        remove_empty_directories(*(_below(root, group) for root in self._everywhere))

    def _set_cores(self, group: str, cores: tuple[int, ...] | None) -> None:
        """A new group has neither cores nor memory nodes, and takes no process without."""
        if "cpuset" not in self._mounts:
            return
        directory = _below(self._mounts["cpuset"], group)
        for name in ("cpuset.cpus", "cpuset.mems"):
            mine = directory / name
            if name == "cpuset.cpus" and cores is not None:
                mine.write_text(",".join(map(str, cores)))
            elif not mine.read_text().strip():
                mine.write_text((directory.parent / name).read_text())
        # What others make below (a Docker daemon, a kubelet) shall be usable at once.
        (directory / "cgroup.clone_children").write_text("1")

    def _set_memory(self, group: str, memory: int | None) -> None:
        """The limit with swap may never be below the limit without, so it is lifted first."""
        with contextlib.suppress(FileNotFoundError):
            self._write("memory", group, "memory.memsw.limit_in_bytes", -1)
        limit = -1 if memory is None else memory
        self._write("memory", group, "memory.limit_in_bytes", limit)
        with contextlib.suppress(FileNotFoundError):
            self._write("memory", group, "memory.memsw.limit_in_bytes", limit)

    def _file(self, controller: str, group: str, name: str) -> Path:
        return _below(self._mounts[controller], group) / name

    def _write(self, controller: str, group: str, name: str, value: object) -> None:
        if controller in self._mounts:
            file = self._file(controller, group, name)
            if not file.exists():
                raise FileNotFoundError(file)
            file.write_text(str(value))


def _below(root: Path, group: str) -> Path:
    return root / group.strip("/")
