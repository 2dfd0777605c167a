"""What Maven Central offers and this product does not need: fetched once, kept in its cache."""

from __future__ import annotations

import hashlib
import tarfile
from collections.abc import Callable
from pathlib import Path

from dunnage.software import maven
from dunnage.software.cache import Cache

_PROGRAM = ("bin", "conf", "lib", "tools")
"""Directories of an archive that are kept; the rest is documentation."""


def jars(artefact: str, known: Path) -> Path:
    """The directory with the jars of `artefact` (`group:name:version`) and of all that it needs.

    `known` lists them as `sha256sum` writes it. Raises UnavailableError as `maven.fetch` does.
    """
    return _obtained(artefact, known) / "jars"


def unpacked(artefact: str, known: Path) -> Path:
    """The directory that `artefact` (`group:name:version:tar.gz:classifier`), an archive, holds.

    `known` has its digest. Raises UnavailableError as `maven.fetch` does.
    """

    def unpack(fetched: Path) -> None:
        (archive,) = fetched.iterdir()
        with tarfile.open(archive) as opened:
            wanted = [each for each in opened if each.name.split("/")[1] in _PROGRAM]
            opened.extractall(fetched, wanted, filter="data")
        archive.unlink()

    (home,) = (_obtained(artefact, known, unpack) / "jars").iterdir()
    return home


def _obtained(artefact: str, known: Path, then: Callable[[Path], None] | None = None) -> Path:
    listed = known.read_text()
    digests = {name: digest for digest, name in (line.split() for line in listed.splitlines())}
    entry = f"{known.stem}-{hashlib.sha256(listed.encode()).hexdigest()[:16]}"

    def make(directory: Path) -> str:
        maven.fetch(artefact, digests, directory / "jars")
        if then is not None:
            then(directory / "jars")
        return entry

    return Cache().obtain(entry, make)
