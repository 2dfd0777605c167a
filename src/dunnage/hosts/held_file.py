"""A lock file that goes with its last holder, and that nobody holds twice all the same."""

from __future__ import annotations

import contextlib
import fcntl
import os
from pathlib import Path


def hold(path: Path, *, wait: bool = True) -> int:
    """Hold a file alone until `let_go`, or the end of this process; returns its descriptor.

    Whoever lets go removes it. So one who waited may find that it holds a file that is no longer
    there, while the next one makes it anew: then it asks again. Raises BlockingIOError without
    `wait` while another process holds it, and PermissionError.
    """
    while True:
        # The directory may come and go with other holders while `mkdir` looks; opening then tells.
        with contextlib.suppress(FileExistsError, FileNotFoundError):
            path.parent.mkdir(mode=0o755, parents=True, exist_ok=True)
        try:
            file = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
        except FileNotFoundError:
            if path.parent.is_symlink():
                raise  # it leads nowhere, and always will
            continue  # its directory went with another holder
        try:
            fcntl.flock(file, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
            if _is_at(path, file):
                return file
        except BaseException:
            os.close(file)
            raise
        os.close(file)


def let_go(path: Path, file: int) -> None:
    """Remove a file that is held, and its directory if nothing else is there; then let go of it."""
    path.unlink(missing_ok=True)
    with contextlib.suppress(OSError):
        path.parent.rmdir()
    os.close(file)


def _is_at(path: Path, file: int) -> bool:
    try:
        there = path.stat()
    except FileNotFoundError:
        return False
    return os.path.samestat(there, os.fstat(file))
