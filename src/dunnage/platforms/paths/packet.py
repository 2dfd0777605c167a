"""A packet on its way. Pure."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Packet:
    """What rules know of a connection's first packet."""

    source: str
    address: str
    """Where it goes to."""
    port: int
    entered: str = ""
    """The interface that it came in by; empty if it was made here."""
    leaves: str = ""
    """The interface that it goes out by; empty before that is known."""
    translated: bool = False
    """Whether a rule here has changed where it goes to."""
    virtual: bool = False
    """Whether IPVS here has sent it to a server."""
    mark: int = 0
    """What rules here have noted of it, for later ones."""
