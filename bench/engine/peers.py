"""Clients that others made and no package offers: a variable names each."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Peer:
    """A program, and the environment variable that names it."""

    name: str
    variable: str

    def program(self, environment: Mapping[str, str]) -> Path | None:
        """Where it is; None when nothing names it.

        Raises SystemExit when what is named cannot be executed.
        """
        named = environment.get(self.variable)
        if named is None:
            return None
        found = shutil.which(named)
        if found is None:
            raise SystemExit(
                f"${self.variable}: `{named}` cannot be executed; type: unset {self.variable}"
            )
        return Path(found).resolve()


def missing(peers: Iterable[Peer], environment: Mapping[str, str]) -> list[str]:
    """A sentence for each that nothing names."""
    return [
        f"`{peer.name}` was not compared: {peer.variable} does not name it. "
        f"Type: export {peer.variable}=PATH"
        for peer in peers
        if peer.program(environment) is None
    ]
