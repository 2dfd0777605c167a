"""Where processes run: what the runner, and every part that starts something, asks of a host."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, runtime_checkable

from dunnage.model.choices import ClientKind
from dunnage.model.study import Limits


@dataclass(frozen=True)
class Completed:
    """A command that ended. A non-zero `code` is a fact, not an exception."""

    code: int
    stdout: str
    stderr: str


class Clock(Protocol):
    """Time of the testbed; a fake clock can run faster than ours."""

    def now(self) -> float:
        """Unix time in seconds."""

    def sleep(self, seconds: float) -> None: ...


class Process(Protocol):
    """A process that a host started."""

    @property
    def pid(self) -> int:
        """Its process id as the host sees it."""

    def poll(self) -> int | None:
        """Exit code, or None while it lives. Raises HostLostError with its host."""

    def wait(self, timeout: float) -> int:
        """Exit code; raises TimeoutError after `timeout` seconds, HostLostError with its host."""

    def signal(self, name: str) -> None:
        """Send `TERM`, `KILL`, `STOP`, `CONT`, …; nothing happens if it has ended."""


class Site(Protocol):
    """What is known of a host before there is one."""

    @property
    def name(self) -> str:
        """Its name in the testbed, such as `db-1`."""

    @property
    def group(self) -> str:
        """The group of the testbed it belongs to."""

    @property
    def address(self) -> str:
        """The IPv4 address by which the other hosts reach it."""

    @property
    def engine(self) -> str:
        """Path of `dunnage-engine` on this host."""

    @property
    def scratch(self) -> str:
        """Directory on a disk of this host for data, removed when the testbed is released."""


class Host(Site, Protocol):
    """A machine, or something that acts as one: the only place where processes start.

    Every process started here dies with the host, and with us unless the testbed was kept.
    """

    def run(
        self,
        argv: Sequence[str],
        *,
        stdin: str = "",
        timeout: float = 60.0,
        unit: str = "command",
    ) -> Completed:
        """Run a command to its end inside the control group `unit` of this host.

        Raises HostLostError, and RunError when `timeout` seconds are over (it is killed then).
        """

    def start(
        self,
        argv: Sequence[str],
        *,
        unit: str,
        log: str,
        env: Mapping[str, str] | None = None,
        limits: Limits | None = None,
    ) -> Process:
        """Start a process in the control group `unit`, its output going to the file `log`."""

    def put(self, path: str, content: bytes, mode: int = 0o644) -> None:
        """Write a file, making its directories; nobody may do more with it than `mode` says."""

    def get(self, path: str) -> bytes:
        """Read a file; raises FileNotFoundError."""

    def remove(self, path: str) -> None:
        """Remove a file or a directory with all in it; nothing happens if there is none."""

    def put_tree(self, source: Path, path: str) -> None:
        """Make a local directory visible at `path`, read-only."""

    def control_group(self, unit: str) -> str:
        """Name of a unit's control group below each hierarchy; the empty unit is the host."""

    def freeze(self, unit: str) -> None:
        """Stop every process of a unit until `thaw`."""

    def thaw(self, unit: str) -> None:
        """Continue the processes of a unit and of the units inside it."""

    def clock_offset(self) -> float:
        """Seconds that this host's clock is ahead of ours."""


@runtime_checkable
class Confined(Protocol):
    """A host that may be no more than a pod of its machine."""

    @property
    def confined(self) -> str:
        """Why it sees neither the processes nor the files of its machine, as words that may follow
        a colon; empty where it sees them."""


@runtime_checkable
class Shared(Protocol):
    """A host on which others may run things beside ours."""

    @property
    def shared(self) -> Mapping[str, str]:
        """Unit → control group, of what acts for us there and of all pods, by which what others use
        is told apart; empty where it cannot be."""


@runtime_checkable
class HasDisks(Protocol):
    """A host whose disks somebody can look at."""

    @property
    def look_at_disks(self) -> str:
        """What a user types on this machine to see how full they are; `STUDY` in it stands for the
        file of the study."""


def confinement(host: Site) -> str:
    """Why a host does not see its machine; empty where it does."""
    return host.confined if isinstance(host, Confined) else ""


@runtime_checkable
class StandsOnHost(Protocol):
    """A client that is not simply a host: what its programs are, seen from the one it stands on."""

    @property
    def client_kind(self) -> ClientKind: ...


def client_kind(client: Host) -> ClientKind:
    """What a load generator is that runs there."""
    if isinstance(client, StandsOnHost):
        return client.client_kind
    return ClientKind.POD if confinement(client) else ClientKind.PROCESS


class Router(Protocol):
    """What stands between hosts, and translates a floating address of each to its own and back."""

    @property
    def name(self) -> str:
        """What paths call it; no host has this name."""

    @property
    def environment(self) -> Mapping[str, str]:
        """Variables under which its `iptables` runs."""

    def floating(self, host: str) -> str:
        """The floating IPv4 address of a host, which no interface has; KeyError if it has none."""

    def run(self, argv: Sequence[str], *, timeout: float) -> Completed:
        """Run a command in its network, with the errors of `Host.run`."""


@runtime_checkable
class HasRouter(Protocol):
    """A host before which a router may stand."""

    @property
    def router(self) -> Router | None:
        """None where nothing translates addresses for it."""
