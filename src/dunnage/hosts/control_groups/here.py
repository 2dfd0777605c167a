"""The control groups of this machine: which version, and where they are mounted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from dunnage.errors import UnavailableError
from dunnage.hosts.control_groups.groups import CONTROLLERS, ControlGroups
from dunnage.hosts.control_groups.version_1 import VersionOne
from dunnage.hosts.control_groups.version_2 import VersionTwo


@dataclass(frozen=True)
class Mounted:
    """Where control groups are mounted."""

    controllers: Mapping[str, Path]
    """Version 1: those of `CONTROLLERS` that there are; some may share a mount."""
    others: tuple[Path, ...]
    """Hierarchies that we do not use, but a container runtime below us does."""
    unified: Path | None
    """Version 2."""


def mounted(mounts: str) -> Mounted:
    """Read `/proc/self/mounts`."""
    controllers: dict[str, Path] = {}
    others: list[Path] = []
    unified = None
    for line in mounts.splitlines():
        _, place, kind, options, *_ = line.split()
        used = [option for option in options.split(",") if option in CONTROLLERS]
        if kind == "cgroup2":
            unified = Path(place)
        if kind == "cgroup" and used:
            for controller in used:
                controllers.setdefault(controller, Path(place))
        elif kind in ("cgroup", "cgroup2"):
            others.append(Path(place))
    return Mounted(controllers, tuple(others), unified)


def control_groups(mounts: str | None = None) -> ControlGroups:
    """Return the control groups of this machine, as `/proc/self/mounts` shows them.

    Version 1 is used where its memory controller is mounted: on a machine with both, the unified
    hierarchy is empty. Raises UnavailableError when there is neither.
    """
    text = Path("/proc/self/mounts").read_text() if mounts is None else mounts
    hierarchies = mounted(text)
    if "memory" in hierarchies.controllers and "cpu" in hierarchies.controllers:
        return VersionOne(hierarchies.controllers, hierarchies.others)
    if hierarchies.unified is not None:
        return VersionTwo(hierarchies.unified)
    raise UnavailableError(
        "no control groups are mounted", hint="mount -t cgroup2 cgroup2 /sys/fs/cgroup"
    )
