"""What substrates give to platforms with Docker, and what software gives to substrates."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol, runtime_checkable


@dataclass(frozen=True)
class DockerBinaries:
    """Docker's daemon as a program to start; `origin` says whose it is."""

    dockerd: Path
    """Path of the program, the same on every host."""
    environment: Mapping[str, str]
    """What is added to its environment, so that it finds its tools."""
    origin: str
    traces: tuple[str, ...] = ()
    """What dockerd and containerd make outside the directories they are told to use, first what is
    inside; none where they are installed, because it may be theirs."""


@dataclass(frozen=True)
class Certificates:
    """Files on this machine for TLS with a daemon."""

    authority: str
    certificate: str
    key: str
    verify: bool


@dataclass(frozen=True)
class Daemon:
    """A Docker daemon on a host, and where it answers."""

    host: str
    url: str
    certificates: Certificates | None = None
    """For a daemon reached by TLS."""
    environment: Mapping[str, str] = field(default_factory=dict)
    """Variables under which the daemon's own tools, such as iptables, run on its host."""
    ours: bool = True
    """Whether Dunnage started it. Only someone else's may run what its host does not see."""


@runtime_checkable
class HasDaemons(Protocol):
    """A substrate with a Docker daemon on every host."""

    def daemon(self, host: str) -> Daemon:
        """The Docker daemon of a host; KeyError if there is none."""


@runtime_checkable
class HasSwarm(HasDaemons, Protocol):
    """A substrate whose daemons are the nodes of one Swarm."""

    @property
    def manager(self) -> Daemon:
        """The daemon that takes orders for services."""

    def node(self, host: str) -> str:
        """Id of a host's node in the Swarm; KeyError if it is none."""
