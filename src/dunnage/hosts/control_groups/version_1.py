"""Control groups, version 1: a hierarchy for each controller."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from dunnage.errors import RunError
from dunnage.hosts.control_groups.groups import (
    MOST_WEIGHT,
    ControlGroups,
    Shape,
    below,
    bottom_up,
    until,
)
from dunnage.model.deployment import QUOTA_PERIOD

_TRIES = 20
"""So often a group is frozen anew that stays halfway."""
_TRY, _LET_GO = 0.5, 0.01
"""Seconds within which one of them has to do, and between two."""


class VersionOne(ControlGroups):
    """Controller → where its hierarchy is mounted; some may share one mount.

    Groups are made in those. Container runtimes make theirs in the `others` too, below the same
    names, so what is removed is looked for there as well.
    """

    version = 1

    def __init__(self, mounts: Mapping[str, Path], others: Sequence[Path] = ()) -> None:
        self._mounts = dict(mounts)
        self._roots = tuple(dict.fromkeys(mounts.values()))
        super().__init__(*self._roots, *others)

    def make(self, group: str, shape: Shape) -> None:
        for root in self._roots:
            below(root, group).mkdir(exist_ok=True)
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
        return tuple(below(root, group) / "tasks" for root in self._roots)

    def freeze(self, group: str) -> None:
        """Such a group may stay halfway: a process that is still on its way waits for another one
        that is frozen already. Then all are let go for a moment, as the kernel's documentation of
        the freezer says."""
        state = self._file("freezer", group, "freezer.state")

        def frozen() -> bool:
            state.write_text("FROZEN")
            return state.read_text().strip() == "FROZEN"

        for _ in range(_TRIES):
            if until(frozen, _TRY):
                return
            state.write_text("THAWED")
            time.sleep(_LET_GO)
        raise RunError("its processes cannot be frozen", where=group)

    def thaw(self, group: str) -> None:
        if "freezer" in self._mounts:
            for frozen in bottom_up(below(self._mounts["freezer"], group)):
                with contextlib.suppress(OSError):
                    (frozen / "freezer.state").write_text("THAWED")

    def remove(self, group: str) -> bool:
        self.thaw(group)
        return super().remove(group)

    def _set_cores(self, group: str, cores: tuple[int, ...] | None) -> None:
        """A new group has neither cores nor memory nodes, and takes no process without."""
        if "cpuset" not in self._mounts:
            return
        directory = below(self._mounts["cpuset"], group)
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
        return below(self._mounts[controller], group) / name

    def _write(self, controller: str, group: str, name: str, value: object) -> None:
        if controller in self._mounts:
            file = self._file(controller, group, name)
            if not file.exists():
                raise FileNotFoundError(file)
            file.write_text(str(value))
