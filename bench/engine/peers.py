"""Clients that others made: a variable names each, and some are offered by packages."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from dunnage.errors import UnavailableError

T = TypeVar("T")


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


def offered(peer: Peer, obtain: Callable[[], T]) -> tuple[T | None, list[str]]:
    """What a package offers where nothing names a peer; None, and a sentence, where it cannot be
    had."""
    try:
        return obtain(), []
    except UnavailableError as error:
        types = f" Type: {error.hint}" if error.hint else f" Type: export {peer.variable}=PATH"
        return None, [f"`{peer.name}` was not compared: {error.what}.{types}"]
