"""An image's root file system in a tar file: just a tree at its prefix and what programs expect.

The same tree gives the same bytes: names are sorted, times zero, everything belongs to root.
"""

from __future__ import annotations

import io
import tarfile
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

_DIRECTORIES = {
    "dev": 0o755,
    "etc": 0o755,
    "proc": 0o555,
    "root": 0o700,
    "run": 0o755,
    "sys": 0o555,
    "tmp": 0o1777,
    "var": 0o755,
    "var/tmp": 0o1777,
}
_FILES = {
    "etc/group": "root:x:0:\nnogroup:x:65534:\n",
    "etc/nsswitch.conf": "passwd: files\ngroup: files\nhosts: files dns\n",
    "etc/passwd": (
        "root:x:0:0:root:/root:/nonexistent\n"
        "nobody:x:65534:65534:nobody:/nonexistent:/nonexistent\n"
    ),
}


def write_image(tree: Path, prefix: str, archive: Path) -> None:
    """Write the root file system that holds `tree` at `prefix`, ready for `docker import`."""
    entries = dict(_skeleton())
    place = PurePosixPath(prefix.lstrip("/"))
    for parent in (place, *place.parents):
        if parent.name:
            entries.setdefault(str(parent), (_entry(str(parent), tarfile.DIRTYPE, 0o755), b""))
    for path in sorted(tree.rglob("*")):
        name = str(place / path.relative_to(tree).as_posix())
        entries[name] = _copied(path, name)
    with tarfile.open(archive, "w", format=tarfile.GNU_FORMAT) as tar:
        for _, (entry, content) in sorted(entries.items()):
            entry.size = len(content)
            tar.addfile(entry, io.BytesIO(content))


def _skeleton() -> Iterator[tuple[str, tuple[tarfile.TarInfo, bytes]]]:
    for name, mode in _DIRECTORIES.items():
        yield name, (_entry(name, tarfile.DIRTYPE, mode), b"")
    for name, text in _FILES.items():
        yield name, (_entry(name, tarfile.REGTYPE, 0o644), text.encode())


def _copied(path: Path, name: str) -> tuple[tarfile.TarInfo, bytes]:
    if path.is_dir():
        return _entry(name, tarfile.DIRTYPE, 0o755), b""
    return _entry(name, tarfile.REGTYPE, path.stat().st_mode & 0o777), path.read_bytes()


def _entry(name: str, kind: bytes, mode: int) -> tarfile.TarInfo:
    entry = tarfile.TarInfo(name)
    entry.type = kind
    entry.mode = mode
    return entry
