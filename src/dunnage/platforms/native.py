"""Members as plain processes of their hosts: what every container is compared with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from threading import Event
from typing import ClassVar

from dunnage.contracts import (
    Completed,
    Host,
    Process,
    RunningMember,
    SoftwareStore,
    Substrate,
    Tree,
)
from dunnage.errors import HostLostError, StayError
from dunnage.model.agreement import agreed
from dunnage.model.choices import ClientPlace, Storage
from dunnage.model.deployment import Deployment
from dunnage.model.layout import Layout, Place, Reservation, Service
from dunnage.model.offer import HOST_PORT, NetworkOffer, PlatformOffer
from dunnage.platforms import places, snapshots
from dunnage.platforms.engine_commands import ask_engine, is_for_engine
from dunnage.platforms.link import link
from dunnage.platforms.listening import check_free
from dunnage.platforms.readiness import await_ready, death, side_by_side

_KILLED = 10.0
"""Seconds within which a killed process has ended."""


@dataclass(frozen=True)
class _Member:
    """A member that was started."""

    service: Service
    host: Host
    process: Process

    @property
    def unit(self) -> str:
        return _unit(self.service.member)

    def ended(self) -> str | None:
        code = self.process.poll()
        return None if code is None else f"exit code {code}"

    def run(self, argv: tuple[str, ...], *, stdin: str, timeout: float) -> Completed:
        return _beside(self.host, self.service.member, argv, stdin=stdin, timeout=timeout)

    def log(self, lines: int) -> str:
        try:
            written = self.host.get(_log(self.host, self.service.member))
        except FileNotFoundError:
            return ""
        return "\n".join(written.decode(errors="replace").splitlines()[-lines:])

    def stop(self) -> None:
        self.process.signal(self.service.stop_signal)
        try:
            self.process.wait(self.service.stop_grace)
        except TimeoutError:
            self.process.signal("KILL")
            self.process.wait(_KILLED)
        # What it forked, such as a snapshot being written, is in its process group.
        self.host.run(["kill", "-KILL", "--", f"-{self.process.pid}"])


class Native:
    """Processes in control groups of their own, bound to their host's address."""

    offer: ClassVar[PlatformOffer] = PlatformOffer(
        networks={"host": NetworkOffer({"host-port": HOST_PORT})},
        storages=(Storage.BIND, Storage.TMPFS),
        clients=(ClientPlace.HOST,),
        substrate=None,
        stay_seconds=1.5,
        restorable=(Storage.BIND,),
        begin_with={"host": "processes started directly on the hosts"},
    )

    def __init__(
        self,
        deployment: Deployment,
        hosts: Sequence[Host],
        substrate: Substrate | None,  # noqa: ARG002  # every platform is made alike
        trees: SoftwareStore,
        stay: str,  # noqa: ARG002
    ) -> None:
        self._deployment = deployment
        self._hosts = {host.name: host for host in hosts}
        self._trees = trees
        self._places: dict[str, Place] = {}
        self._members: dict[str, _Member] = {}
        self._memory_backed: list[Place] = []

    def reserve(self, layout: Layout) -> Reservation:
        """Fix places and addresses before anything starts."""
        tree = self._trees.tree(layout.software)
        reservation = places.reserve(layout, tuple(self._hosts.values()), tree.prefix)
        self._places = {place.member: place for place in reservation.places}
        return reservation

    def up(self, services: Sequence[Service], deadline: float) -> None:
        """Start services side by side and wait until each is ready."""
        for tree, host in self._needed(services):
            host.put_tree(tree.source, tree.prefix)
        given_up = Event()
        side_by_side(
            [partial(self._bring_up, each, deadline, given_up) for each in services],
            given_up,
        )

    def run(self, member: str, argv: Sequence[str], *, stdin: str, timeout: float) -> Completed:
        """Run a command beside a member, in its control group as in a container."""
        return _beside(self._host(member), member, argv, stdin=stdin, timeout=timeout)

    def running(self) -> tuple[RunningMember, ...]:
        """The members that run; raises StayError naming one that has died, with its log."""
        started = [self._members[name] for name in self._places if name in self._members]
        for member in started:
            if (how := member.ended()) is not None:
                raise death(member.service.member, f"died: {how}", member.log)
        return tuple(
            RunningMember(
                member.service.member,
                member.host,
                member.process.pid,
                member.host.control_group(member.unit),
            )
            for member in started
        )

    def crash(self, member: str) -> None:
        """Kill a member's process without warning."""
        self._members[member].process.signal("KILL")

    def keep(self, snapshot: str, files: Mapping[str, Sequence[str]]) -> None:
        """Copy files of members' data to the disks of their hosts, under a name."""
        side_by_side(partial(snapshots.keep, part, snapshot) for part in self._parts(files))

    def restore(self, snapshot: str, files: Mapping[str, Sequence[str]]) -> None:
        """Put copies of what was kept below the data directories of members."""
        side_by_side(partial(snapshots.restore, part, snapshot) for part in self._parts(files))

    def client(self, host: Host) -> Host:
        """The client's host itself."""
        return host

    def network(self) -> dict[str, str]:
        """The hosts' own link, as the hosts tell it."""
        used = {place.host: self._hosts[place.host] for place in self._places.values()}
        told = agreed({name: link(host) for name, host in used.items()})
        return {"driver": "host", **{name: str(value) for name, value in told.items()}}

    def log(self, member: str, lines: int = 20) -> str:
        """The last lines that a member wrote; nothing if it was never started."""
        return self._members[member].log(lines) if member in self._members else ""

    def down(self) -> None:
        """Stop everything in reverse order and remove it, all of it even if some of it fails."""
        failures: list[Exception] = []
        for name in reversed(self._places):
            try:
                self._remove(name)
            except HostLostError:
                continue  # nothing of this stay is left on a host that is gone
            except Exception as error:
                failures.append(error)
        if failures:
            raise failures[0]

    def _parts(self, files: Mapping[str, Sequence[str]]) -> list[snapshots.Part]:
        return [
            snapshots.Part(name, self._host(name), self._places[name].data, tuple(own))
            for name, own in files.items()
        ]

    def _needed(self, services: Sequence[Service]) -> list[tuple[Tree, Host]]:
        wanted = {
            (service.software, self._places[service.member].host): service for service in services
        }
        return [(self._trees.tree(software), self._hosts[host]) for software, host in wanted]

    def _bring_up(self, service: Service, deadline: float, given_up: Event) -> None:
        place = self._places[service.member]
        host = self._hosts[place.host]
        check_free(host, [place])
        for path, content in service.files.items():
            host.put(path, content.encode())
        self._make_data(host, place)
        process = host.start(
            service.argv,
            unit=_unit(service.member),
            log=_log(host, service.member),
            env=service.env,
            limits=self._deployment.limits,
        )
        member = self._members[service.member] = _Member(service, host, process)
        await_ready(member, deadline, given_up)

    def _make_data(self, host: Host, place: Place) -> None:
        _must(host, "mkdir", "-p", place.home, place.data)
        if self._deployment.storage is Storage.TMPFS:
            _must(host, "mount", "-t", "tmpfs", "tmpfs", place.data)
            self._memory_backed.append(place)

    def _remove(self, name: str) -> None:
        host = self._host(name)
        if name in self._members:
            self._members[name].stop()
        if self._places[name] in self._memory_backed:
            _must(host, "umount", self._places[name].data)
        host.remove(places.directory(host, name))

    def _host(self, member: str) -> Host:
        return self._hosts[self._places[member].host]


def _beside(
    host: Host, member: str, argv: Sequence[str], *, stdin: str, timeout: float
) -> Completed:
    if is_for_engine(argv):
        return ask_engine(host, argv, stdin=stdin, timeout=timeout)
    return host.run(argv, stdin=stdin, timeout=timeout, unit=_unit(member))


def _unit(member: str) -> str:
    return f"member-{member}"


def _log(host: Host, member: str) -> str:
    return f"{places.directory(host, member)}/log"


def _must(host: Host, *argv: str) -> None:
    done = host.run(argv)
    if done.code != 0:
        raise StayError(
            f"`{' '.join(argv)}` failed: {done.stderr.strip()}",
            where=host.name,
            hint="dunnage doctor",
        )
