"""Content-addressed entries below one directory: made once, never changed, shared by processes.

A request (`redis-7.0-recipe1-x86_64`) leads through `references/` to an entry named by what it
was made of. Entries are built beside their place and renamed, so a half-made one is never seen.
"""

from __future__ import annotations

import errno
import fcntl
import os
import shutil
from collections.abc import Callable, Container, Iterator
from contextlib import contextmanager
from pathlib import Path

from dunnage.errors import UnavailableError

_FULL = (errno.ENOSPC, errno.EDQUOT)


def default_root() -> Path:
    """`$DUNNAGE_CACHE`, else `$XDG_CACHE_HOME/dunnage`, else `~/.cache/dunnage`."""
    own = os.environ.get("DUNNAGE_CACHE")
    if own:
        return Path(own).absolute()
    shared = os.environ.get("XDG_CACHE_HOME")
    return (Path(shared) if shared else Path.home() / ".cache").absolute() / "dunnage"


class Cache:
    """Entries below `root`; every method may be called by several processes at once."""

    def __init__(self, root: Path | None = None) -> None:
        self.root = root or default_root()

    def find(self, request: str) -> Path | None:
        """The entry that a request led to before, or None."""
        try:
            name = (self.root / "references" / request).read_text().strip()
        except OSError:
            return None
        entry = self.root / "entries" / name
        return entry if name and entry.is_dir() else None

    def obtain(self, request: str, make: Callable[[Path], str]) -> Path:
        """The entry of a request, made by `make` if there is none yet.

        `make` fills an empty directory and returns the entry's name, which must depend on nothing
        but what it was made of. Raises UnavailableError when the cache cannot be written, by `make`
        because the disk is full; any other error of `make` is its own.
        """
        if (entry := self.find(request)) is not None:
            return entry
        with self._lock(request):
            return self.find(request) or self._make(request, make)

    @contextmanager
    def _lock(self, request: str) -> Iterator[None]:
        locks = self.root / "locks"
        with self._writing():
            locks.mkdir(parents=True, exist_ok=True)
            file = (locks / request).open("w")
        with file:
            fcntl.flock(file, fcntl.LOCK_EX)
            yield

    def _make(self, request: str, make: Callable[[Path], str]) -> Path:
        building = self.root / "building" / request
        shutil.rmtree(building, ignore_errors=True)  # left by a process that was killed
        with self._writing():
            building.mkdir(parents=True)
        try:
            with self._writing(_FULL):
                name = make(building)
            entry = self.root / "entries" / name
            with self._writing():
                entry.parent.mkdir(exist_ok=True)
                if not entry.exists():
                    building.rename(entry)
        finally:
            shutil.rmtree(building, ignore_errors=True)
        with self._writing():
            self._refer(request, name)
        return entry

    def _refer(self, request: str, name: str) -> None:
        references = self.root / "references"
        references.mkdir(exist_ok=True)
        draft = references / f".{request}"
        draft.write_text(name + "\n")
        draft.rename(references / request)

    @contextmanager
    def _writing(self, kinds: Container[int | None] | None = None) -> Iterator[None]:
        """Say of errors, of all or of some kinds, that the cache cannot be written."""
        try:
            yield
        except OSError as error:
            if kinds is not None and error.errno not in kinds:
                raise
            raise UnavailableError(
                f"cannot write the cache: {error.strerror or error}",
                where=str(error.filename or self.root),
                hint="DUNNAGE_CACHE=/another/directory dunnage doctor",
            ) from error
