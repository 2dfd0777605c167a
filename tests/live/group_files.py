"""Files of control groups on this machine, whichever version it has them in."""

from __future__ import annotations

from pathlib import Path

from dunnage.hosts.control_groups.groups import below
from dunnage.hosts.control_groups.here import control_groups, mounted


def of_version(one: str, two: str) -> str:
    """Of the names, or words, of version 1 and of version 2 those that count here."""
    return one if control_groups().version == 1 else two


def directory(group: str, controller: str) -> Path:
    """Where a group's files of a controller, as version 1 calls it, are."""
    found = mounted(Path("/proc/self/mounts").read_text())
    root = found.controllers[controller] if control_groups().version == 1 else found.unified
    assert root is not None
    return below(root, group)


def content(group: str, controller: str, one: str, two: str) -> str:
    """What the file says that version 1 or version 2 has; nothing where a kernel has none."""
    file = directory(group, controller) / of_version(one, two)
    return file.read_text() if file.exists() else ""


def is_held(group: str) -> bool:
    """Whether the kernel says that the processes of a group stand still."""
    said = content(group, "freezer", "freezer.state", "cgroup.events")
    return of_version("FROZEN", "frozen 1") in said.splitlines()
