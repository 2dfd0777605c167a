"""What clients need to take turns on one server."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from .shots import Processors, Shot

Client = Callable[[], Shot]
"""Does once what it is asked for."""


@dataclass(frozen=True)
class Bench:
    """This machine, the engine on it, and where its peers are looked for."""

    engine: Path
    processors: Processors
    scratch: Path
    """An empty directory."""
    environment: Mapping[str, str]
    """Whose variables name peers."""
    tell: Callable[[str], None]
    """Takes what is going on, for whoever waits."""
    without: frozenset[str] = frozenset()
    """Names of peers that are left out."""
