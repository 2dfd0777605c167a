"""A container's first process, as its host's kernel has it."""

from __future__ import annotations

from dunnage.contracts.host import Host
from dunnage.contracts.platform import Seen
from dunnage.errors import StayError

_FIND = r"""
for file in $(grep -ls -- "$1" /proc/[0-9]*/cgroup); do
    own=${file%/cgroup}
    grep -qs '^NSpid:.*[[:space:]]1$' "$own/status" || continue
    echo "${own#/proc/}"; exec cat "$file"
done
"""
"""Prints the process that is the first in a process namespace of its own, and its groups."""


def first_process(host: Host, container: str, where: str) -> Seen | None:
    """The first process of a container by its id; None where its host sees none.

    `where` is whom the error is about when the host cannot be asked.
    """
    found = host.run(["sh", "-c", _FIND, "find", container])
    if found.code != 0 and found.stdout:
        return None  # it ended meanwhile
    if found.stderr.strip():
        raise StayError(
            f"its process cannot be found: {found.stderr.strip()}",
            where=where,
            hint=f"command -v grep cat  # on `{host.name}`, which needs both",
        )
    return parsed(found.stdout, container)


def parsed(printed: str, container: str) -> Seen | None:
    """The process that was printed, in the container's group: of memory, unified, or any other."""
    pid, _, groups = printed.partition("\n")
    lines = (line.split(":", 2) for line in groups.splitlines())
    own = {names: path for _, names, path in lines if container in path}
    ranked = sorted(own, key=lambda names: ("memory" not in names.split(","), names != ""))
    return Seen(int(pid), own[ranked[0]]) if ranked else None
