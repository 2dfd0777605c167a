"""Which process a testbed in a cluster belongs to, and whether anybody uses it."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

from dunnage.contracts.cluster import Owner, TestbedSeen
from dunnage.hosts.first_process import Identity, identity, running
from dunnage.hosts.machines import this_machine

_BEGINS = 600.0
"""Seconds after which a testbed has agents, if it ever will: one has its first within two minutes.
The clocks of two machines may differ by the rest."""


def own() -> Owner:
    """This process."""
    machine, boot = _here()
    me = identity(os.getpid())
    return Owner(machine, boot, me.pid, me.born)


def in_use(seen: TestbedSeen) -> bool:
    """Whether somebody uses a testbed.

    Of a process on this machine that is known. Of any other its agents tell: they end when nobody
    asks them. One without agents may be just made, so there its age tells.
    """
    owner = seen.owner
    if owner is not None and (owner.machine, owner.boot) == _here():
        return running(owner.pid) == Identity(owner.pid, owner.born)
    if seen.agents:
        return seen.asked
    return seen.age is None or seen.age < _BEGINS


def is_of_nobody_here(seen: TestbedSeen) -> bool:
    """Whether it belonged to a process of this machine that has ended."""
    owner = seen.owner
    here = owner is not None and (owner.machine, owner.boot) == _here()
    return here and not in_use(seen)


def _here() -> tuple[str, str]:
    """Machine and boot, by which numbers of processes mean something: those of a container are
    others than its machine's. A machine's id is nobody else's business: a digest of it will do."""
    machine, boot = this_machine()
    numbered = f"dunnage {machine} {Path('/proc/self/ns/pid').readlink()}"
    return hashlib.sha256(numbered.encode()).hexdigest(), boot
