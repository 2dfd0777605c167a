"""What a software tree is made of, as data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Recipe:
    """A tree made of Debian's packages.

    `revision` counts changes of the way trees are made; `programs` maps a name below `bin/` to the
    file in the packages; the first of `packages` gives the exact version.
    """

    name: str
    version: str
    revision: int
    packages: tuple[str, ...]
    programs: Mapping[str, str]
