"""What every client of one comparison is asked for, and where."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum


class Kind(StrEnum):
    """What an operation does with a record of 1 KB."""

    READ = "read"
    WRITE = "write"


@dataclass(frozen=True)
class Asked:
    """So many operations of one kind, with one in flight on each connection."""

    kind: Kind
    connections: int
    operations: int

    @property
    def title(self) -> str:
        """As in `read 1 KB, 32 connections`."""
        many = "1 connection" if self.connections == 1 else f"{self.connections} connections"
        return f"{self.kind} 1 KB, {many}"


@dataclass(frozen=True)
class Place:
    """Where a client runs and finds the server: at a port of the loopback there."""

    port: int
    processor: int
    """The only one that the client has."""
    enter: Sequence[str] = ()
    """The words before a command that is to be carried out there."""
