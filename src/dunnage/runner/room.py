"""How much room is left on the disk of a host, and whether a program lacked it."""

from __future__ import annotations

from dunnage.contracts.host import HasDisks, Host
from dunnage.errors import RunError
from dunnage.units import size

LEAST = 2**20
"""Bytes. With less, what a generator or a sampler leaves may not fit."""


def left_at(host: Host, path: str) -> float | None:
    """Bytes that are left on the disk of a path, as its host finds it; None if it cannot tell."""
    told = host.run(["stat", "--file-system", "--format=%a %S", path])
    if told.code != 0:
        return None
    blocks, length = map(int, told.stdout.split())
    return float(blocks * length)


def failed_there(host: Host, directory: str, what: str) -> RunError:
    """What went wrong with a program that writes into a directory of a host.

    Where its disk is full, that is said too: its own log may be on the same disk, and then the
    program itself can say nothing.
    """
    left = left_at(host, directory)
    if left is None or left >= LEAST:
        return RunError(what, where=host.name)
    full = f"{what}; only {size(left)} are left on the disk of `{directory}`"
    hint = host.look_at_disks if isinstance(host, HasDisks) else ""
    return RunError(full, where=host.name, hint=hint)
