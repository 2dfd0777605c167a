"""How software is obtained: what platforms and the runner ask of the store of trees."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from dunnage.model.layout import Software
from dunnage.model.value import Scalar


@dataclass(frozen=True)
class Tree:
    """A software tree on this machine and the place where every host and image has it."""

    software: Software
    source: Path
    """Its path on this machine."""
    prefix: str
    """Absolute path that its programs were made for, on every host and in every image."""
    archive: Path
    """The image made of that tree, as a root file system in a tar file."""
    tag: str
    """Name of the image after its import."""
    facts: Mapping[str, Scalar]
    """Where it came from: packages, versions, hashes."""


class SoftwareStore(Protocol):
    """How a database's software is obtained: one tree, and an image made of that tree."""

    def tree(self, software: Software) -> Tree:
        """Obtain a tree from the cache, or make it. Raises UnavailableError with the reason."""
