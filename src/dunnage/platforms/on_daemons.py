"""What platforms on Docker's daemons do alike: images, clients in containers, and clearing up."""

from __future__ import annotations

import shlex
from abc import abstractmethod
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import PurePosixPath
from typing import Any

from docker import DockerClient

from dunnage.contracts.docker import Daemon, HasDaemons
from dunnage.contracts.host import Host
from dunnage.contracts.platform import Seen
from dunnage.contracts.software import SoftwareStore, Tree
from dunnage.docker_api import connect
from dunnage.errors import StayError, UnavailableError
from dunnage.model.agreement import agreed
from dunnage.model.choices import ClientPlace, Storage
from dunnage.model.deployment import Deployment
from dunnage.model.layout import ENGINE_TREE, Place, Service, Software
from dunnage.platforms import places
from dunnage.platforms.bridge import way_in
from dunnage.platforms.client_container import ClientContainer
from dunnage.platforms.container_member import ContainerMember, spoken
from dunnage.platforms.containers import network_name, ulimits
from dunnage.platforms.hosted_members import HostedMembers
from dunnage.platforms.images import provide
from dunnage.platforms.lost import is_lost
from dunnage.platforms.paths.script import Tools
from dunnage.platforms.readiness import side_by_side
from dunnage.platforms.stay_names import StayNames
from dunnage.platforms.subnets import address_in, told_in

Step = tuple[str, Callable[[], None]]
"""The host that a step of taking down is about, and what it does."""


class OnDaemons(HostedMembers[ContainerMember]):
    """Members in containers, each on the daemon of its host.

    Everything that belongs to the stay carries a label of its own, by which `down` finds and
    removes it, and nothing else.
    """

    def __init__(
        self,
        deployment: Deployment,
        hosts: Sequence[Host],
        substrate: HasDaemons,
        trees: SoftwareStore,
        stay: str,
    ) -> None:
        super().__init__(deployment, hosts, trees)
        self._substrate = substrate
        self._stay = StayNames.of(stay)
        self._clients: dict[str, DockerClient] = {}
        self._containers: dict[str, ClientContainer] = {}

    @abstractmethod
    def _prepare_network(self, host: Host) -> None:
        """See to it that containers of a host can be joined to the stay's network."""

    def up(self, services: Sequence[Service], deadline: float) -> None:
        by_host: dict[str, dict[Software, Tree]] = {}
        for service in services:
            trees = by_host.setdefault(self._places[service.member].host, {})
            trees[service.software] = self._trees.tree(service.software)
        side_by_side(
            partial(self._prepare, self._hosts[host], tuple(trees.values()))
            for host, trees in by_host.items()
        )
        self._bring_all_up(services, deadline)

    def crash(self, member: str) -> None:
        with spoken("a container cannot be killed", member):
            self._members[member].container.kill("SIGKILL")

    def client(self, host: Host) -> Host:
        """The client's host, or a container on it, joined to a network as the members' are."""
        if self._deployment.client is ClientPlace.HOST:
            return host
        if host.name not in self._containers:
            self._containers[host.name] = self._client_container(host)
        return self._containers[host.name]

    def network(self) -> dict[str, str]:
        """Driver, MTU, bridge, proxies and translations, as daemons and kernels tell them."""
        ways: dict[str, dict[str, str]] = {}
        for member in self._started():
            if member.host.name not in ways:
                process = member.identified().process
                with spoken("the network cannot be read back", member.service.member):
                    ways[member.host.name] = way_in(
                        self._client(member.host),
                        self._daemon(member.host),
                        member.host,
                        member.container.attrs,
                        process,
                    )
        return {name: str(value) for name, value in agreed(ways).items()}

    def down(self) -> None:
        """Stop everything in reverse order and remove it, all of it even if some of it fails."""
        members = tuple(reversed(self._places.values()))
        steps: list[Step] = []
        steps += [(place.host, partial(self._stop, place.member)) for place in members]
        steps += self._after_stops()
        steps += [(host, partial(self._clear, host)) for host in self._clients]
        steps += self._last_steps()
        steps += [(place.host, partial(self._remove_directory, place)) for place in members]
        try:
            self._take_down(steps)
        finally:
            for client in self._clients.values():
                client.close()

    def _after_stops(self) -> Iterable[Step]:
        """What is to be done once all members have stopped."""
        return ()

    def _last_steps(self) -> Iterable[Step]:
        """What is removed after all containers of the stay."""
        return ()

    def _stop(self, member: str) -> None:
        if member in self._members:
            with spoken("the container cannot be stopped", member):
                started = self._members[member]
                started.container.stop(timeout=round(started.service.stop_grace))

    def _outside(self, place: Place) -> str:
        """Where a member's host has its data; a volume is made if it is not there yet."""
        if self._deployment.storage is not Storage.VOLUME:
            return place.data
        volumes = self._client(self._hosts[place.host]).volumes
        with spoken("the member's volume cannot be created", place.member):
            volume = volumes.create(self._stay.thing(place.member), labels=self._stay.labels)
            return str(volume.attrs["Mountpoint"])

    def _prepare(self, host: Host, trees: Sequence[Tree]) -> None:
        client = self._client(host)
        for tree in trees:
            provide(client, tree, host.name)
        self._prepare_network(host)

    def _make_directories(self, place: Place, host: Host) -> None:
        bound = (place.home, place.data) if self._deployment.storage is Storage.BIND else ()
        made = host.run(["mkdir", "-p", place.home, *bound])
        if made.code != 0:
            hint = shlex.join(["df", host.scratch])
            raise StayError(made.stderr.strip(), where=host.name, hint=hint)

    def _note_address(self, member: ContainerMember, within: str | None) -> None:
        """Read the address back that a member was given in the range `within`, where it was late.

        One that has ended has none, and is told of with its log where its readiness is awaited.
        """
        if within is not None:
            process = member.identified().process
            own = (
                address_in(within, member.host, process.pid)
                if isinstance(process, Seen)
                else told_in(within, member.container.attrs)
            )
            if own is not None:
                self._late[member.service.member] = own

    def _client_container(self, host: Host) -> ClientContainer:
        client = self._client(host)
        with spoken("the client's daemon does not answer", host.name):
            driver = client.info()["CgroupDriver"]
        if driver != "cgroupfs":
            raise UnavailableError(
                f"a client's container needs the cgroup driver `cgroupfs`, not `{driver}`",
                where=host.name,
                hint="docker info --format '{{.CgroupDriver}}'",
            )
        tree = self._trees.tree(ENGINE_TREE)
        self._prepare(host, [tree])
        return ClientContainer(
            host,
            client,
            tree=tree,
            network=network_name(self._deployment.network, self._stay),
            stay=self._stay,
            ulimits=ulimits_of(host),
        )

    def _clear(self, host: str) -> None:
        """Remove all that carries the stay's label on a daemon."""
        client = self._clients[host]
        with spoken("what the stay left cannot be removed", host):
            for container in client.containers.list(all=True, filters=self._stay.filter):
                container.remove(v=True, force=True)
            for network in client.networks.list(filters=self._stay.filter):
                if network.attrs["Scope"] == "local":
                    network.remove()
            for volume in client.volumes.list(filters=self._stay.filter):
                volume.remove(force=True)

    def _remove_directory(self, place: Place) -> None:
        host = self._hosts[place.host]
        host.remove(places.directory(host, place.member))

    def _lost(self, host: str, error: Exception) -> bool:  # noqa: ARG002  # the daemon's, it may be
        return host in self._hosts and is_lost(self._hosts[host])

    def _tools(self, host: Host) -> Tools | None:
        try:
            daemon = self._daemon(host)
        except KeyError:
            return None
        files = [each.sandbox for each in self._started() if each.host.name == host.name]
        if host.name in self._containers:
            files.append(self._containers[host.name].sandbox)
        directory = next((str(PurePosixPath(file).parent) for file in files if file), "")
        return Tools(daemon.environment, directory)

    def _daemon(self, host: Host) -> Daemon:
        return self._substrate.daemon(host.name)

    def _client(self, host: Host) -> DockerClient:
        if host.name not in self._clients:
            try:
                self._clients[host.name] = self._connect(self._daemon(host), host.name)
            except KeyError:
                raise UnavailableError(
                    "this host has no Docker daemon", where=host.name, hint="dunnage doctor"
                ) from None
        return self._clients[host.name]

    def _connect(self, daemon: Daemon, where: str) -> DockerClient:
        with spoken("the Docker daemon does not answer", where):
            return connect(daemon)


def ulimits_of(host: Host) -> list[Any]:
    """The limits of a host's own processes, which its members in containers get as well."""
    return ulimits(host.run(["cat", "/proc/self/limits"]).stdout)
