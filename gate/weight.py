"""How much the tests of a stage weigh beside labs, which starve all that weighs less than they."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Iterator
from pathlib import Path

from gate.stages import Machine

_NAME = "dunnage-gate-"
_MOST = {"cpu.shares": "262144", "cpu.weight": "10000"}
"""What a lab has, in control groups of version 1 and of version 2."""


@contextlib.contextmanager
def weight(machine: Machine) -> Iterator[None]:
    """Let this process, and what it starts meanwhile, weigh as much as a lab where labs are shared.

    Beside busy labs a Redis of weight 1 that needed 0.2 s of processor time was seen to wait for it
    for 7 s. What judges speed keeps the weight that users' commands have. Where the weight cannot
    be had, that is said.
    """
    top = _hierarchy() if machine is Machine.SHARED else None
    if top is None:
        yield
        return
    before = top / _own_group().lstrip("/")
    try:
        _join(_made(top / f"{_NAME}{os.getpid()}"))
    except OSError as error:
        print(f"tests weigh less than the labs beside them, and may starve: {error}", flush=True)
    try:
        yield
    finally:
        with contextlib.suppress(OSError):
            _join(before)
        for group in top.glob(f"{_NAME}*"):  # also those of gates that were killed
            with contextlib.suppress(OSError):  # somebody is in it
                group.rmdir()


def _made(group: Path) -> Path:
    group.mkdir(exist_ok=True)
    for name, most in _MOST.items():
        if (group / name).exists():
            (group / name).write_text(most)
    return group


def _join(group: Path) -> None:
    (group / "cgroup.procs").write_text(str(os.getpid()))


def _hierarchy() -> Path | None:
    """Where the controller of processor time is mounted."""
    mounts = Path("/proc/self/mounts").read_text()
    found = re.search(r"^\S+ (\S+) cgroup (?:\S+,)?cpu[, ]", mounts, re.MULTILINE)
    found = found or re.search(r"^\S+ (\S+) cgroup2 ", mounts, re.MULTILINE)
    return Path(found[1]) if found else None


def _own_group() -> str:
    """The group of this process in that hierarchy, below its mount."""
    groups = Path("/proc/self/cgroup").read_text()
    found = re.search(r"^\d+:(?:\S+,)?cpu(?:,[^:]+)?:(\S+)$", groups, re.MULTILINE)
    found = found or re.search(r"^0::(\S+)$", groups, re.MULTILINE)
    return found[1] if found else "/"
