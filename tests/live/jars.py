"""Jars of Maven Central that tests use, fetched once."""

from __future__ import annotations

import hashlib
from pathlib import Path

from dunnage.software import maven
from dunnage.software.cache import Cache


def jars(artefact: str, known: Path) -> Path:
    """The directory with the jars of `artefact` (`group:name:version`) and of all that it needs.

    `known` lists them as `sha256sum` writes it. Raises UnavailableError as `maven.fetch` does.
    """
    listed = known.read_text()
    digests = {name: digest for digest, name in (line.split() for line in listed.splitlines())}
    entry = f"{known.stem}-{hashlib.sha256(listed.encode()).hexdigest()[:16]}"

    def make(directory: Path) -> str:
        maven.fetch(artefact, digests, directory / "jars")
        return entry

    return Cache().obtain(entry, make) / "jars"
