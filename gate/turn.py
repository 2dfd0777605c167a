"""Whose turn on this machine it is: what judges speed waits for other gates, and they for it."""

from __future__ import annotations

import contextlib
import fcntl
import os
from collections.abc import Iterator
from pathlib import Path

from gate.stages import Machine

LOCK = Path("/run/dunnage-gate.lock")
WITHIN = "DUNNAGE_GATE"
"""Set for all that a gate starts: a gate below another has the turn of that one."""


@contextlib.contextmanager
def turn(machine: Machine, lock: Path = LOCK) -> Iterator[None]:
    """Wait for the machine; somebody who may not write the lock has no labs and needs no turn."""
    try:
        wanted = machine is not Machine.UNTOUCHED and WITHIN not in os.environ
        file = os.open(lock, os.O_RDWR | os.O_CREAT, 0o600) if wanted else None
    except PermissionError:
        file = None
    if file is None:
        yield
        return
    how = fcntl.LOCK_EX if machine is Machine.ALONE else fcntl.LOCK_SH
    try:
        try:
            fcntl.flock(file, how | fcntl.LOCK_NB)
        except BlockingIOError:
            print("another gate works on this machine: waiting for it", flush=True)
            fcntl.flock(file, how)
        os.environ[WITHIN] = str(os.getpid())
        yield
    finally:
        os.environ.pop(WITHIN, None)
        os.close(file)
