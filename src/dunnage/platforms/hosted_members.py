"""What platforms do alike, whatever members run in: places, copies of data, the way up and down."""

from __future__ import annotations

import ipaddress
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from threading import Event
from typing import Generic, TypeVar

from dunnage.contracts.host import Completed, Host
from dunnage.contracts.platform import RunningMember
from dunnage.contracts.software import SoftwareStore
from dunnage.deadline import Deadline
from dunnage.errors import HostLostError
from dunnage.model.deployment import Deployment
from dunnage.model.layout import Layout, Place, Probe, Reservation, Service
from dunnage.model.offer import FLOATING_IP, OF_HOSTS, EndpointOffer
from dunnage.model.path import NetworkPath
from dunnage.platforms import places
from dunnage.platforms.floating import floating_address, router_before
from dunnage.platforms.late_start import insist_known
from dunnage.platforms.listening import check_free
from dunnage.platforms.paths.read import Member, read_paths, standing
from dunnage.platforms.paths.script import Tools
from dunnage.platforms.readiness import Starting, await_ready, death, side_by_side, unready
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
    def _start(self, service: Service, place: Place, host: Host, deadline: Deadline) -> M:
        """Start a member whose files are on its host.

        What it waits for on the way, such as storage, has until the deadline, which is also that of
        its being ready.
        """

    def running(self) -> tuple[RunningMember, ...]:
        members = []
        for member in self._started():
            members.append(member.identified())
            # Only then: a process that has just ended is not seen either.
            if (how := member.ended()) is not None:
                raise death(member, f"died: {how}")
        return tuple(members)

    def ended(self) -> Mapping[str, str]:
        found = {}
        for member in self._started():
            member.identified()  # before: a process that has just ended is not seen either
            if (how := member.ended()) is not None:
                found[member.service.member] = how
        return found

    def silent(self, seconds: float) -> Mapping[str, str]:
        answers: dict[str, str] = {}

        def ask(name: str, probe: Probe) -> None:
            if (answer := unready(partial(self.run, name), probe, seconds)) is not None:
                answers[name] = answer

        alive = [member.service for member in self._started() if member.ended() is None]
        side_by_side(partial(ask, service.member, service.ready) for service in alive)
        return {each.member: answers[each.member] for each in alive if each.member in answers}

    def run(self, member: str, argv: Sequence[str], *, stdin: str, timeout: float) -> Completed:
        """Run a command beside a member that was started."""
        return self._members[member].run(tuple(argv), stdin=stdin, timeout=timeout)

    def late(self) -> Mapping[str, str]:
        """The addresses of members that have started, where they were late."""
        return dict(self._late)

    def paths(self, client: Host) -> tuple[NetworkPath, ...]:
        """The way to the port of each member that its layout names first: that of clients."""
        standpoint = standing(client)
        named = {host.name: host.address for host in (*self._hosts.values(), standpoint.host)}
        named |= self._stood_for()
        members = []
        for member in self._started():
            running = member.identified()
            contact = next(iter(self._places[running.member].ports.values())).contact
            filled = contact.filled(self._late)
            members.append(Member(running, filled, _meant(filled.host, named)))
        addresses = (*(each.meant for each in members if each.meant), *named.values())
        hosts = {each.running.host.name: each.running.host for each in members}
        tools = {host.name: self._tools(host) for host in (*hosts.values(), standpoint.host)}
        there = {name: each for name, each in tools.items() if each is not None}
        router = router_before(standpoint.host) if self._endpoint is FLOATING_IP else None
        return read_paths(standpoint, members, tuple(dict.fromkeys(addresses)), there, router)

    def log(self, member: str, lines: int = 20) -> str:
        """Nothing if it was never started."""
        return self._members[member].log(lines) if member in self._members else ""

    def keep(self, snapshot: str, files: Mapping[str, Sequence[str]]) -> None:
        side_by_side(partial(each.keep, snapshot) for each in self._files(files))

    def restore(self, snapshot: str, files: Mapping[str, Sequence[str]]) -> None:
        side_by_side(partial(each.restore, snapshot) for each in self._files(files))

    def _reserve(self, layout: Layout, addressing: places.Addressing) -> Reservation:
        prefix = self._trees.tree(layout.software).prefix
        told = places.as_clients_are_told(addressing, self._endpoint, floating_address)
        reservation = places.reserve(layout, tuple(self._hosts.values()), prefix, told)
        self._places = {place.member: place for place in reservation.places}
        return reservation

    @property
    def _endpoint(self) -> EndpointOffer | None:
        """The endpoint under study, where hosts provide it."""
        return OF_HOSTS.get(self._deployment.endpoint)

    def _bring_all_up(self, services: Sequence[Service], seconds: float) -> None:
        given_up = Event()
        deadline = Deadline.after(seconds, given_up)
        side_by_side([partial(self._bring_up, service, deadline) for service in services], given_up)

    def _bring_up(self, service: Service, deadline: Deadline) -> None:
        place, host = self._places[service.member], self._host(service.member)
        insist_known(service, self._late)
        self._furnish(service, place, host)
        member = self._members[service.member] = self._start(service, place, host, deadline)
        await_ready(member, deadline)

    def _furnish(self, service: Service, place: Place, host: Host) -> None:
        """See to it that a member has its ports on its host, and its files."""
        check_free(host, [place])
        for path, content in service.files.items():
            host.put(path, content.encode())

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

    def _tools(self, host: Host) -> Tools | None:  # noqa: ARG002  # others have a daemon there
        """What a daemon of the host translates addresses with; None if there is none."""
        return None

    def _outside(self, place: Place) -> str:
        """Where a member's host has its data."""
        return place.data

    def _stood_for(self) -> Mapping[str, str]:
        """Member → the address that its name stands for, where only the stay's network knows it."""
        return self._late

    def _files(self, files: Mapping[str, Sequence[str]]) -> list[MemberFiles]:
        return [
            MemberFiles(name, self._host(name), self._outside(self._places[name]), tuple(own))
            for name, own in files.items()
        ]

    def _started(self) -> list[M]:
        return [self._members[name] for name in self._places if name in self._members]

    def _host(self, member: str) -> Host:
        return self._hosts[self._places[member].host]


def _meant(host: str, named: Mapping[str, str]) -> str:
    """The address that a contact's host stands for; empty where nobody has told."""
    try:
        ipaddress.IPv4Address(host)
    except ValueError:
        return named.get(host, "")
    return host
