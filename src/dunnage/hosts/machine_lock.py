"""One measurement at a time on this machine: the others wait, and are told for whom."""

from __future__ import annotations

import contextlib
import json
import os
import shlex
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from dunnage.errors import UnavailableError
from dunnage.hosts.held_file import hold, let_go
from dunnage.hosts.lab import STATE, become_root

LOCK = STATE / "measure.lock"


@contextmanager
def measuring(study: str, on_wait: Callable[[str], None], *, lock: Path = LOCK) -> Iterator[None]:
    """Own this machine for measurements of `study` as long as the `with` lasts.

    Where another process owns it, `on_wait` is called once with a sentence that names it, and
    this waits until that one is done or dead. Raises UnavailableError without root's rights, and
    where the lock cannot be written.
    """
    try:
        file = _held(lock, wait=False)
    except BlockingIOError:
        on_wait(_holder(lock))
        file = _held(lock, wait=True)
    try:
        os.ftruncate(file, 0)
        os.pwrite(file, json.dumps({"pid": os.getpid(), "study": study}).encode(), 0)
        yield
    finally:
        let_go(lock, file)


def forget_measuring(*, lock: Path = LOCK) -> None:
    """Remove what one who was killed while measuring left; nothing while another one measures."""
    if lock.exists():
        with contextlib.suppress(BlockingIOError):
            let_go(lock, hold(lock, wait=False))


def _held(lock: Path, *, wait: bool) -> int:
    try:
        return hold(lock, wait=wait)
    except BlockingIOError:
        raise
    except PermissionError:
        raise UnavailableError(
            f"`{lock}` cannot be written: only root can lock this machine", hint=become_root()
        ) from None
    except OSError as error:  # such as a disk that is read-only
        hint = shlex.join(["df", str(lock.parent.parent)])
        raise UnavailableError(
            f"`{lock}` cannot be written: {error.strerror}", hint=hint
        ) from error


def _holder(lock: Path) -> str:
    try:
        owner = json.loads(lock.read_text())
        holder = f"study `{owner['study']}` (process {owner['pid']})"
    except (OSError, ValueError, KeyError):
        holder = "another study"
    return f"waiting for {holder}, which is being measured on this machine"
