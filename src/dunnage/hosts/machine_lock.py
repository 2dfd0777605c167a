"""One measurement at a time on this machine: the others wait, and are told for whom."""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from dunnage.errors import UnavailableError
from dunnage.hosts.lab import STATE
from dunnage.hosts.root import become_root

LOCK = STATE / "measure.lock"


@contextmanager
def measuring(study: str, on_wait: Callable[[str], None], *, lock: Path = LOCK) -> Iterator[None]:
    """Own this machine for measurements of `study` as long as the `with` lasts.

    Where another process owns it, `on_wait` is called once with a sentence that names it, and
    this waits until that one is done or dead. Raises UnavailableError without root's rights.
    """
    try:
        lock.parent.mkdir(mode=0o755, parents=True, exist_ok=True)
        file = os.open(lock, os.O_RDWR | os.O_CREAT, 0o600)
    except PermissionError:
        raise UnavailableError(
            f"`{lock}` cannot be written: only root measures on this machine", hint=become_root()
        ) from None
    try:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            on_wait(_holder(lock))
            fcntl.flock(file, fcntl.LOCK_EX)
        os.ftruncate(file, 0)
        os.pwrite(file, json.dumps({"pid": os.getpid(), "study": study}).encode(), 0)
        yield
    finally:
        os.close(file)


def _holder(lock: Path) -> str:
    try:
        said = json.loads(lock.read_text())
        holder = f"study `{said['study']}` (process {said['pid']})"
    except (ValueError, KeyError):
        holder = "another study"
    return f"waiting for {holder}, which is being measured on this machine"
