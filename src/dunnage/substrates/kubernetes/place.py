"""Where the programs of a Kubernetes keep their things on a host, and their names. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from dunnage.contracts.kubernetes import ADMIN, CONTAINERD_SOCKET, DIRECTORY, PROGRAMS

SECRET = 0o600
"""Mode of a file that holds a key."""
PUBLIC = 0o644

API_PORT = 6443
DOMAIN = "cluster.local"
"""What names of services end with."""
NODE = "system:node:"
"""What the name of a kubelet's user begins with; the node authorizer goes by it."""
NODES = "system:nodes"
MASTERS = "system:masters"
"""Group of users that may do everything, whatever roles there are."""
LOOPBACK = "127.0.0.1"


@dataclass(frozen=True)
class Component:
    """One program of a Kubernetes on one host."""

    unit: str
    """Name of its unit, and of its log."""
    argv: tuple[str, ...]
    environment: Mapping[str, str] = field(default_factory=dict)
    around: tuple[str, ...] = ()
    """Words that begin its surroundings, which last as long as it is restarted. They become the
    command that follows them."""


@dataclass(frozen=True)
class Written:
    """A file to be written before anything starts."""

    path: str
    content: bytes = field(repr=False)
    mode: int = PUBLIC


@dataclass(frozen=True)
class Place:
    """The directory of a Kubernetes on a host."""

    directory: str

    def path(self, name: str) -> str:
        """A file or directory of it by its name."""
        return f"{self.directory}/{name}"

    def log(self, unit: str) -> str:
        """Log of a unit."""
        return self.path(f"log/{unit}.log")

    @property
    def restarts_file(self) -> str:
        """File with a line for each restart of a program."""
        return self.path("restarts")

    @property
    def socket(self) -> str:
        """Where containerd answers."""
        return self.path(CONTAINERD_SOCKET)

    @property
    def programs(self) -> str:
        """Link to the directory of programs, for whoever looks."""
        return self.path(PROGRAMS)

    @property
    def admin(self) -> str:
        """Kubeconfig of who may do everything."""
        return self.path(ADMIN)


def place_of(scratch: str) -> Place:
    """The place on a host with this scratch directory."""
    return Place(f"{scratch}/{DIRECTORY}")
