"""What Maven Central offers and this product does not need: fetched once, kept in its cache."""

from __future__ import annotations

import hashlib
import tarfile
from pathlib import Path

from dunnage.software import maven
from dunnage.software.cache import Cache

_PROGRAM = ("bin", "conf", "lib", "tools")
"""Directories of an archive that are kept; the rest is documentation."""


def jars(artefact: str, known: Path) -> Path:
    """The directory with the jars of `artefact` (`group:name:version`) and of all that it needs; of
    `group:name:version:type:classifier` with that one file.

    `known` lists them as `sha256sum` writes it. Raises UnavailableError as `maven.fetch` does.
    """
    listed = known.read_text()
    digests = {name: digest for digest, name in (line.split() for line in listed.splitlines())}
    entry = _entry(known, "")

    def make(directory: Path) -> str:
        maven.fetch(artefact, digests, directory / "jars")
        return entry

    return Cache().obtain(entry, make) / "jars"


def unpacked(artefact: str, known: Path) -> Path:
    """The directory that `artefact` (`group:name:version:tar.gz:classifier`), an archive, holds.

    `known` has its digest. Raises UnavailableError as `maven.fetch` does.
    """
    entry = _entry(known, "-unpacked")

    def make(directory: Path) -> str:
        (archive,) = jars(artefact, known).iterdir()
        with tarfile.open(archive) as opened:
            wanted = [each for each in opened if each.name.split("/")[1] in _PROGRAM]
            opened.extractall(directory, wanted, filter="data")
        return entry

    (home,) = Cache().obtain(entry, make).iterdir()
    return home


def _entry(known: Path, kind: str) -> str:
    """The name in the cache of what a list of digests stands for."""
    return f"{known.stem}{kind}-{hashlib.sha256(known.read_bytes()).hexdigest()[:16]}"
