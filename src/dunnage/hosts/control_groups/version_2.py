"""Control groups, version 2: one hierarchy."""

from __future__ import annotations

import contextlib
from pathlib import Path

from dunnage.errors import RunError
from dunnage.hosts.control_groups.groups import ControlGroups, Shape, below, until
from dunnage.model.deployment import QUOTA_PERIOD

_WANTED = ("cpu", "cpuset", "memory", "io", "pids", "hugetlb")
"""The last is for kubelets: one refuses a group for its pods that lacks a controller of the root's
(`pkg/kubelet/cm/cgroup_v2_manager_linux.go`, `Validate`)."""
_OWN = "own"
"""What the group of a group's own processes is called. Version 2 takes none into a group that hands
controllers down, as container runtimes make it do for those that they make below it."""


class VersionTwo(ControlGroups):
    """Groups below the unified mount. Controllers are handed down from the root on demand."""

    version = 2

    def __init__(self, root: Path) -> None:
        super().__init__(root)
        self._root = root

    def make(self, group: str, shape: Shape) -> None:
        directory = below(self._root, group)
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
        own = below(self._root, group) / _OWN
        own.mkdir(exist_ok=True)
        return (own / "cgroup.procs",)

    def freeze(self, group: str) -> None:
        directory = below(self._root, group)
        (directory / "cgroup.freeze").write_text("1")
        if not until(lambda: "frozen 1" in (directory / "cgroup.events").read_text()):
            self.thaw(group)
            raise RunError("its processes cannot be frozen", where=group)

    def thaw(self, group: str) -> None:
        for frozen in self._bottom_up(group):
            with contextlib.suppress(OSError):
                (frozen / "cgroup.freeze").write_text("0")

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
