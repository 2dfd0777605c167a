"""Members in containers, one daemon on each host."""

from __future__ import annotations

import io
import secrets
import shlex
import tarfile
from collections.abc import Sequence
from functools import partial
from typing import Any, ClassVar

from docker import DockerClient

from dunnage.contracts import Daemon, Host, SoftwareStore, Substrate, Tree
from dunnage.docker_api import connect
from dunnage.errors import HostLostError, StayError, UnavailableError
from dunnage.model.agreement import agreed
from dunnage.model.choices import ClientPlace, Peers, Storage
from dunnage.model.deployment import Deployment
from dunnage.model.layout import EVERYWHERE, Layout, Place, Reservation, Service, Software
from dunnage.model.offer import HOST_PORT, Capability, NetworkOffer, PlatformOffer
from dunnage.platforms import places
from dunnage.platforms.bridge import way_in
from dunnage.platforms.client_container import ClientContainer
from dunnage.platforms.container_member import ContainerMember, spoken
from dunnage.platforms.containers import (
    BRIDGE,
    HOST,
    USER_DEFINED,
    StayNames,
    arguments,
    ulimits,
)
from dunnage.platforms.hosted_members import HostedMembers
from dunnage.platforms.images import command, image_of, provide
from dunnage.platforms.readiness import side_by_side

PUBLISHED = {"host-port": HOST_PORT}


DOCKER = Capability("docker")
"""A Docker daemon can be had."""


class Docker(HostedMembers[ContainerMember]):
    """Containers with the paths, the command, the user and the limits that a process has natively.

    Everything that belongs to the stay carries a label of its own, by which `down` finds and
    removes it, and nothing else.
    """

    _software: Software

    offer: ClassVar[PlatformOffer] = PlatformOffer(
        networks={
            BRIDGE: NetworkOffer(PUBLISHED, "Bridge", "with a bridge network"),
            HOST: NetworkOffer(PUBLISHED, "Only", "with host networking"),
            USER_DEFINED: NetworkOffer(PUBLISHED, "UserDefined", "with a user-defined network"),
        },
        storages=(Storage.BIND, Storage.VOLUME, Storage.CONTAINER, Storage.TMPFS),
        clients=(ClientPlace.HOST, ClientPlace.CONTAINER),
        substrate="docker",
        stay_seconds=3.0,
        name="Docker",
        title="Docker",
        needs=(DOCKER,),
        restorable=(Storage.BIND, Storage.VOLUME),
        begin_with={
            HOST: "containers in the host's own network",
            BRIDGE: "containers on Docker's bridge, reached by published ports",
        },
    )

    def __init__(
        self,
        deployment: Deployment,
        hosts: Sequence[Host],
        substrate: Substrate | None,
        trees: SoftwareStore,
        stay: str,
    ) -> None:
        if substrate is None:
            raise UnavailableError(
                "platform `docker` needs a Docker daemon on every host",
                where=deployment.name,
                hint="dunnage doctor",
            )
        super().__init__(deployment, hosts, trees)
        self._substrate = substrate
        self._stay = StayNames(f"{stay}-{secrets.token_hex(4)}")
        self._clients: dict[str, DockerClient] = {}
        self._containers: dict[str, ClientContainer] = {}

    def reserve(self, layout: Layout) -> Reservation:
        bridged = self._deployment.network != HOST
        if bridged and self._deployment.peers is Peers.DIRECT:
            raise UnavailableError(
                "containers on a bridge reach other hosts' containers only through published "
                "ports: write `peers: endpoint`, or `network: host`",
                where=self._deployment.name,
                hint="dunnage schema study",
            )
        self._software = layout.software
        return self._reserve(layout, EVERYWHERE if bridged else None)

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
                member.state()
                with spoken("the network cannot be read back", member.service.member):
                    ways[member.host.name] = way_in(
                        self._client(member.host),
                        self._daemon(member.host),
                        member.host,
                        member.container.attrs,
                    )
        return {name: str(value) for name, value in agreed(ways).items()}

    def down(self) -> None:
        """Stop everything in reverse order and remove it, all of it even if some of it fails."""
        members = tuple(reversed(self._places.values()))
        steps = [(place.host, partial(self._stop, place.member)) for place in members]
        steps += [(host, partial(self._clear, host)) for host in self._clients]
        steps += [(place.host, partial(self._remove_directory, place)) for place in members]
        try:
            self._take_down(steps)
        finally:
            for client in self._clients.values():
                client.close()

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
        if self._deployment.network == USER_DEFINED:
            with spoken("the stay's network cannot be created", host.name):
                if not client.networks.list(filters=self._stay.filter):
                    client.networks.create(
                        self._stay.network, driver="bridge", labels=self._stay.labels
                    )

    def _start(self, service: Service, place: Place, host: Host) -> ContainerMember:
        bound = (place.home, place.data) if self._deployment.storage is Storage.BIND else ()
        made = host.run(["mkdir", "-p", place.home, *bound])
        if made.code != 0:
            hint = shlex.join(["df", host.scratch])
            raise StayError(made.stderr.strip(), where=host.name, hint=hint)
        tree = self._trees.tree(service.software)
        client = self._client(host)
        with spoken("the container cannot be started", service.member):
            container = client.containers.create(
                **arguments(
                    service,
                    place,
                    stay=self._stay,
                    image=image_of(tree),
                    argv=command(service.argv, tree),
                    address=host.address,
                    network=self._deployment.network,
                    storage=self._deployment.storage,
                    limits=self._deployment.limits,
                    ulimits=_ulimits(host),
                )
            )
            if self._deployment.storage is Storage.CONTAINER:
                container.put_archive("/", _directory(place.data))
            container.start()
        group = self._daemon(host).container_group
        return ContainerMember(service, host, tree, client, container, group)

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
        tree = self._trees.tree(self._software)
        self._prepare(host, [tree])
        return ClientContainer(
            host,
            client,
            image=image_of(tree),
            network=self._deployment.network,
            stay=self._stay,
            ulimits=_ulimits(host),
        )

    def _stop(self, member: str) -> None:
        if member in self._members:
            with spoken("the container cannot be stopped", member):
                started = self._members[member]
                started.container.stop(timeout=round(started.service.stop_grace))

    def _clear(self, host: str) -> None:
        """Remove all that carries the stay's label on a daemon."""
        client = self._clients[host]
        with spoken("what the stay left cannot be removed", host):
            for container in client.containers.list(all=True, filters=self._stay.filter):
                container.remove(v=True, force=True)
            for network in client.networks.list(filters=self._stay.filter):
                network.remove()
            for volume in client.volumes.list(filters=self._stay.filter):
                volume.remove(force=True)

    def _remove_directory(self, place: Place) -> None:
        host = self._hosts[place.host]
        host.remove(places.directory(host, place.member))

    def _lost(self, host: str, error: Exception) -> bool:  # noqa: ARG002  # the daemon's, it may be
        try:
            if host in self._hosts:
                self._hosts[host].run(["true"])
        except HostLostError:
            return True
        return False

    def _daemon(self, host: Host) -> Daemon:
        return self._substrate.daemon(host.name)

    def _client(self, host: Host) -> DockerClient:
        if host.name not in self._clients:
            try:
                with spoken("the Docker daemon does not answer", host.name):
                    self._clients[host.name] = connect(self._daemon(host))
            except KeyError:
                raise UnavailableError(
                    "this host has no Docker daemon", where=host.name, hint="dunnage doctor"
                ) from None
        return self._clients[host.name]


def _ulimits(host: Host) -> list[Any]:
    return ulimits(host.run(["cat", "/proc/self/limits"]).stdout)


def _directory(path: str) -> bytes:
    """An archive that holds one empty directory."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as tar:
        entry = tarfile.TarInfo(path.lstrip("/"))
        entry.type = tarfile.DIRTYPE
        entry.mode = 0o755
        tar.addfile(entry)
    return buffer.getvalue()
