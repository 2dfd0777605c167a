"""How members run: what the runner asks of a platform."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from dunnage.contracts.host import Completed, Host
from dunnage.model.layout import Layout, Reservation, Service
from dunnage.model.path import NetworkPath


@dataclass(frozen=True)
class Seen:
    """A process that its host sees: under which id there, in which control group."""

    pid: int
    control_group: str


@dataclass(frozen=True)
class Unseen:
    """A process that its host does not see, as on someone else's cluster.

    It can be neither inspected, sampled nor held still.
    """

    reason: str
    """Why, as words that may follow a colon."""


@dataclass(frozen=True)
class RunningMember:
    """A member that runs, and its process as the member's host sees it."""

    member: str
    host: Host
    process: Seen | Unseen
    """Read back from the host, never concluded from an option."""


class Platform(Protocol):
    """How database processes are run: one deployment, from `reserve` to `down`.

    `down` is called exactly once, after any failure too. It removes everything of this stay from
    the hosts, except what it must keep.
    """

    def reserve(self, layout: Layout) -> Reservation:
        """Fix places and addresses before anything starts."""

    def up(self, services: Sequence[Service], deadline: float) -> None:
        """Start services and wait until each is ready.

        Raises StayError, with the last lines of the member's log, when one ends or is not ready
        within `deadline` seconds.
        """

    def run(self, member: str, argv: Sequence[str], *, stdin: str, timeout: float) -> Completed:
        """Run a command beside a member, in its container if it has one.

        One whose first word is `ENGINE` is for the host's engine, in the member's network only.
        Raises RunError when `timeout` seconds are over.
        """

    def late(self) -> Mapping[str, str]:
        """Member → its own address, of those that have started and whose address was late."""

    def running(self) -> tuple[RunningMember, ...]:
        """The members that run; raises StayError naming one that has died, with its log.

        That is known from what runs them, whether or not their hosts see their processes.
        """

    def ended(self) -> Mapping[str, str]:
        """Member → how it died, such as `exit code 137`, of those that have; in their order."""

    def silent(self, seconds: float) -> Mapping[str, str]:
        """Member → what came of its probe, of those that live and do not say within so many seconds
        that they are ready."""

    def client(self, host: Host) -> Host:
        """Where a generator runs on a client's host: that host, or a container on it."""

    def network(self) -> Mapping[str, str]:
        """The active network on the path to the members, read back, also on the hosts that `client`
        was asked for. Where nobody could read what its deployment asks for, the fact `UNREAD` says
        what and why."""

    def paths(self, client: Host) -> tuple[NetworkPath, ...]:
        """The way from a client, as `client` gave it, to each member, read back hop by hop."""

    def log(self, member: str, lines: int = 20) -> str:
        """The last lines that a member wrote."""

    def down(self) -> None:
        """Stop everything in reverse order and remove it."""


@runtime_checkable
class GivesAccount(Protocol):
    """A platform on something that tells more of a stay than its members' logs, and forgets it when
    the stay is gone."""

    @property
    def looking(self) -> str:
        """The hint of those errors of it that the account explains; empty before there is any."""

    def account(self) -> str:
        """What is told of the stay now, to be read; raises StayError where nobody tells."""


@runtime_checkable
class Crashable(Protocol):
    """A platform whose members can be made to fail on purpose."""

    def crash(self, member: str) -> None:
        """Kill a member's process without warning."""


@runtime_checkable
class KeepsData(Protocol):
    """A platform that can keep files of its members' data, and have members start with copies.

    `files` maps members to paths below their data directories, as a `Snapshot` does.
    """

    def keep(self, snapshot: str, files: Mapping[str, Sequence[str]]) -> None:
        """Copy these files to the disks of the members' hosts, under the name of the snapshot.

        They take the place of what has that name already, and stay when the platform is down,
        until the host is lost or released. Raises StayError when one cannot be copied.
        """

    def restore(self, snapshot: str, files: Mapping[str, Sequence[str]]) -> None:
        """Put copies of what was kept where the members will find it.

        It is called after `reserve` and before `up`. Raises StayError when a host does not hold it.
        """
