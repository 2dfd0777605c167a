"""Checksums of the files of a result, as the journal keeps them.

They tell damage and changes by hand. They are no seal: who can write the result can write its
journal.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from dunnage.store.events import KEPT


class Checksum(NamedTuple):
    """Of the content of a file."""

    size: int
    """Bytes."""
    sha256: str


def checksum(content: bytes) -> Checksum:
    """Return the checksum of a file's content."""
    return Checksum(len(content), hashlib.sha256(content).hexdigest())


def listed(events: Iterable[Mapping[str, Any]]) -> dict[str, set[Checksum]]:
    """Path inside the result → every checksum that the journal has of it.

    A file that is replaced has several. Each of them is right: a crash may come between the
    journal's line and the file.
    """
    found: dict[str, set[Checksum]] = {}
    for event in events:
        files = event.get("files")
        if event.get("event") != KEPT or not isinstance(files, Mapping):
            continue
        for path, entry in files.items():
            size, digest = (
                (entry.get("size"), entry.get("sha256")) if isinstance(entry, Mapping) else ("", "")
            )
            if isinstance(size, int) and isinstance(digest, str):
                found.setdefault(path, set()).add(Checksum(size, digest))
    return found
