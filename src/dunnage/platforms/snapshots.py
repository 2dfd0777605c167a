"""Copies of members' data on the disks of their hosts, for other stays to start with."""

from __future__ import annotations

import shlex
from dataclasses import dataclass

from dunnage.contracts import Host
from dunnage.errors import StayError

_LONGEST = 3600.0
"""Seconds that copying one file or directory may take at most."""


@dataclass(frozen=True)
class Part:
    """Files of one member, each a path below the directory where its host has its data."""

    member: str
    host: Host
    data: str
    files: tuple[str, ...]


def keep(part: Part, snapshot: str) -> None:
    """Copy a member's files to its host's disk, in place of what has that name already.

    Raises StayError naming the member and what could not be copied.
    """
    copies = _directory(part, snapshot)
    part.host.remove(copies)
    _copy(part, part.data, copies)


def restore(part: Part, snapshot: str) -> None:
    """Put copies of what was kept below a member's data; raises StayError as `keep` does."""
    _copy(part, _directory(part, snapshot), part.data)


def _directory(part: Part, snapshot: str) -> str:
    return f"{part.host.scratch}/kept/{snapshot}/{part.member}"


def _copy(part: Part, source: str, target: str) -> None:
    for file in part.files:
        _must(part, "mkdir", "-p", f"{target}/{file}".rpartition("/")[0])
        copying = ("cp", "--archive", "--no-target-directory")
        _must(part, *copying, f"{source}/{file}", f"{target}/{file}")
    # Otherwise the kernel would write the copies to the disk while runs are measured.
    _must(part, "sync", "--file-system", target)


def _must(part: Part, *argv: str) -> None:
    done = part.host.run(argv, timeout=_LONGEST)
    if done.code != 0:
        raise StayError(
            f"`{shlex.join(argv)}` failed on {part.host.name}: {done.stderr.strip()}",
            where=part.member,
            hint=shlex.join(["df", part.host.scratch]),
        )
