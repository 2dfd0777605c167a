"""Clients that others made: a variable names each, and some are offered by packages."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
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


@dataclass
class Found:
    """Peers that are looked for, and a sentence for each that is not there."""

    environment: Mapping[str, str]
    without: frozenset[str]
    absent: list[str] = field(default_factory=list)

    def named(self, peer: Peer) -> Path | None:
        """The program that a variable names. Raises SystemExit as `Peer.program` does."""
        if self._left_out(peer):
            return None
        program = peer.program(self.environment)
        if program is None:
            self.absent.append(
                f"`{peer.name}` was not compared: {peer.variable} does not name it. "
                f"Type: export {peer.variable}=PATH"
            )
        return program

    def offered(self, peer: Peer, obtain: Callable[[], T], named: Callable[[Path], T]) -> T | None:
        """What is made of the program that a variable names, or else what a package offers.

        Raises SystemExit as `Peer.program` does.
        """
        if self._left_out(peer):
            return None
        program = peer.program(self.environment)
        if program is not None:
            return named(program)
        try:
            return obtain()
        except UnavailableError as error:
            hint = error.hint or f"export {peer.variable}=PATH"
            self.absent.append(f"`{peer.name}` was not compared: {error.what}. Type: {hint}")
            return None

    def _left_out(self, peer: Peer) -> bool:
        if peer.name in self.without:
            self.absent.append(f"`{peer.name}` was left out, as `--without` asks.")
        return peer.name in self.without
