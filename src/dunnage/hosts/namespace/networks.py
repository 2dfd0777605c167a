"""Which network namespaces are a host's: its own, and those of the containers on it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from dunnage.hosts.first_process import FirstProcess

_OF_PROCESS = re.compile(r"net:\[(\d+)\]")
_MOUNTED = re.compile(r"^(?:\S+ ){3}net:\[(\d+)\] ", re.MULTILINE)
"""A network namespace that is mounted somewhere (proc(5), `mountinfo`)."""


def networks(first: FirstProcess) -> frozenset[int]:
    """Numbers of all network namespaces of a host, as `/proc/PID/ns/net` has them.

    They are those in which a process of the host is, and those that are mounted on it: a program
    that makes a network of its own keeps it so, and no process need be in it. The mounts of this
    machine are left out, because a host is made with copies of them. What ends meanwhile is left
    out, and of a host that is gone nothing is known.
    """
    found = set(_of_processes(first.root / "proc"))
    with suppress(OSError):
        here = Path("/proc/self/mountinfo").read_text()
        found |= mounted(Path(f"/proc/{first.pid}/mountinfo").read_text()) - mounted(here)
    return frozenset(found)


def mounted(mountinfo: str) -> set[int]:
    """Numbers of the network namespaces that are mounted, from a `mountinfo` file."""
    return {int(number) for number in _MOUNTED.findall(mountinfo)}


def _of_processes(processes: Path) -> Iterator[int]:
    with suppress(OSError):
        for entry in processes.iterdir():
            if entry.name.isdigit():
                with suppress(OSError):
                    link = (entry / "ns" / "net").readlink()
                    if named := _OF_PROCESS.fullmatch(str(link)):
                        yield int(named[1])
