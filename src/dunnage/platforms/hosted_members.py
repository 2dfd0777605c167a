"""What platforms do alike, whatever members run in: places, copies of data, the way up and down."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from threading import Event
from typing import Generic, TypeVar

from dunnage.contracts import Completed, Host, RunningMember, SoftwareStore
from dunnage.errors import HostLostError
from dunnage.model.deployment import Deployment
from dunnage.model.layout import Layout, Place, Reservation, Service
from dunnage.model.path import NetworkPath
from dunnage.platforms import places
from dunnage.platforms.late_start import insist_known
from dunnage.platforms.listening import check_free
from dunnage.platforms.readiness import Starting, await_ready, death, side_by_side
from dunnage.platforms.snapshots import MemberFiles

M = TypeVar("M", bound=Starting)
"""A member that was started."""


class HostedMembers(ABC, Generic[M]):
    """A platform whose members each have a place on a host."""

    def __init__(self, deployment: Deployment, hosts: Sequence[Host], trees: SoftwareStore) -> None:
        self._deployment = deployment
        self._hosts = {host.name: host for host in hosts}
        self._trees = trees
        self._places: dict[str, Place] = {}
        self._members: dict[str, M] = {}
        self._late: dict[str, str] = {}

    @abstractmethod
    def _start(self, service: Service, place: Place, host: Host) -> M:
        """Start a member whose files are on its host."""

    def running(self) -> tuple[RunningMember, ...]:
        members = []
        for member in self._started():
            name = member.service.member
            if (how := member.ended()) is not None:
                raise death(name, f"died: {how}", member.log)
            members.append(member.identified())
        return tuple(members)

    def run(self, member: str, argv: Sequence[str], *, stdin: str, timeout: float) -> Completed:
        """Run a command beside a member that was started."""
        return self._members[member].run(tuple(argv), stdin=stdin, timeout=timeout)

    def late(self) -> Mapping[str, str]:
        """The addresses of members that have started, where they were late."""
        return dict(self._late)

    def paths(self, client: Host) -> tuple[NetworkPath, ...]:  # noqa: ARG002
        """None is read yet."""
        return ()

    def log(self, member: str, lines: int = 20) -> str:
        """Nothing if it was never started."""
        return self._members[member].log(lines) if member in self._members else ""

    def keep(self, snapshot: str, files: Mapping[str, Sequence[str]]) -> None:
        side_by_side(partial(each.keep, snapshot) for each in self._files(files))

    def restore(self, snapshot: str, files: Mapping[str, Sequence[str]]) -> None:
        side_by_side(partial(each.restore, snapshot) for each in self._files(files))

    def _reserve(self, layout: Layout, addressing: places.Addressing) -> Reservation:
        prefix = self._trees.tree(layout.software).prefix
        reservation = places.reserve(layout, tuple(self._hosts.values()), prefix, addressing)
        self._places = {place.member: place for place in reservation.places}
        return reservation

    def _bring_all_up(self, services: Sequence[Service], deadline: float) -> None:
        given_up = Event()
        side_by_side(
            [partial(self._bring_up, service, deadline, given_up) for service in services],
            given_up,
        )

    def _bring_up(self, service: Service, deadline: float, given_up: Event) -> None:
        place, host = self._places[service.member], self._host(service.member)
        insist_known(service, self._late)
        check_free(host, [place])
        for path, content in service.files.items():
            host.put(path, content.encode())
        member = self._members[service.member] = self._start(service, place, host)
        await_ready(member, deadline, given_up)

    def _take_down(self, steps: Iterable[tuple[str, Callable[[], None]]]) -> None:
        """Take steps, each on a host, all of them even if some fail; raise the first error."""
        failures = []
        for host, step in steps:
            try:
                step()
            except Exception as error:
                if not self._lost(host, error):
                    failures.append(error)
        if failures:
            raise failures[0]

    def _lost(self, host: str, error: Exception) -> bool:  # noqa: ARG002  # others ask the host
        """Whether a step failed as its host is gone: nothing of this stay is left there."""
        return isinstance(error, HostLostError)

    def _outside(self, place: Place) -> str:
        """Where a member's host has its data."""
        return place.data

    def _files(self, files: Mapping[str, Sequence[str]]) -> list[MemberFiles]:
        return [
            MemberFiles(name, self._host(name), self._outside(self._places[name]), tuple(own))
            for name, own in files.items()
        ]

    def _started(self) -> list[M]:
        return [self._members[name] for name in self._places if name in self._members]

    def _host(self, member: str) -> Host:
        return self._hosts[self._places[member].host]
