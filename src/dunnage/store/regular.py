"""Opens files that anybody may have put there: never a pipe, a device or an endless file, and never
through a link what is to be written."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path
from typing import BinaryIO

MOST_BYTES = 2**30
"""Of a file of a result: none of ours comes near it."""
_KINDS = {
    stat.S_IFDIR: "a directory",
    stat.S_IFIFO: "a pipe",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
    stat.S_IFSOCK: "a socket",
}


def regular_bytes(path: Path, most: int | None = None) -> bytes:
    """Return the content of a regular file, at most so many bytes of it.

    Raises OSError; what is no regular file is refused before it is opened, as a pipe would wait
    for its writer and a device may do anything.
    """
    with opened_to_read(path) as file:
        if most is None and os.fstat(file.fileno()).st_size > MOST_BYTES:
            raise OSError(errno.EFBIG, "it is too large")
        return file.read() if most is None else file.read(most)


def opened_to_read(path: Path) -> BinaryIO:
    """Open a regular file to read it; raises OSError, as `regular_bytes` does."""
    _refuse_others(path.stat().st_mode)
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        _refuse_others(os.fstat(descriptor).st_mode)
        return os.fdopen(descriptor, "rb")
    except OSError:
        os.close(descriptor)
        raise


def opened_to_append(path: Path) -> BinaryIO:
    """Open a file of ours to add to its end, and make it if it is missing.

    Raises OSError; a link is refused, as it may lead to any file of this user's.
    """
    refuse_link(path)
    flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    descriptor = os.open(path, flags, 0o666)
    try:
        _refuse_others(os.fstat(descriptor).st_mode)
        return os.fdopen(descriptor, "ab+")
    except OSError:
        os.close(descriptor)
        raise


def refuse_link(path: Path) -> None:
    """Raise OSError for a link where a file or directory of ours should be."""
    if path.is_symlink():
        raise OSError(errno.ELOOP, "this is a link: what it leads to is not ours", str(path))


def _refuse_others(mode: int) -> None:
    kind = _KINDS.get(stat.S_IFMT(mode))
    if kind is not None:
        raise OSError(errno.EEXIST, f"this is {kind} and not a file")
