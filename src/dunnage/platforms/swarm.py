"""Members as services of a Docker Swarm, each pinned to its host."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from threading import Lock
from typing import Any, ClassVar

from docker import DockerClient
from docker.errors import APIError, NotFound
from docker.models.containers import Container

from dunnage.contracts.docker import HasSwarm
from dunnage.contracts.host import Host
from dunnage.contracts.software import SoftwareStore
from dunnage.contracts.substrate import Substrate
from dunnage.deadline import Deadline
from dunnage.errors import StayError, UnavailableError
from dunnage.model.choices import Peers
from dunnage.model.deployment import Deployment
from dunnage.model.layout import Layout, Place, Reservation, Service
from dunnage.model.offer import OF_HOSTS, PlatformOffer
from dunnage.platforms import places
from dunnage.platforms.container_member import ContainerMember, spoken
from dunnage.platforms.containers import described, network_name
from dunnage.platforms.image_of_tree import command, image_of
from dunnage.platforms.late_start import wrapped
from dunnage.platforms.offered import (
    CONTAINER_DNS,
    HOST,
    NODE_PORT,
    OVERLAY,
    SERVICE_IP,
    unsupported,
)
from dunnage.platforms.on_daemons import OnDaemons, Step, ulimits_of
from dunnage.platforms.services import arguments, virtual_address
from dunnage.platforms.subnets import subnet
from dunnage.platforms.swarm_offer import OFFER

_INGRESS = "ingress"
"""Swarm's own network of its routing mesh."""

_GATEWAY = "docker_gwbridge"
"""The bridge by which a container on an overlay reaches its host, and ports of the host reach it.
Docker names it in `libnetwork`, drivers/bridge."""
_STARTED = 60.0
"""Seconds within which a service has a container, or the reason why not."""
_REMOVED = 30.0
"""Seconds within which what a service left is gone."""
_INTERVAL = 0.02
_FAILED = ("failed", "rejected", "orphaned", "shutdown", "complete", "remove")


class Swarm(OnDaemons):
    """One service for each member, with one task that is never started again.

    A member's ports are published on its own node only, or it is reached by its name in the stay's
    overlay network: nothing ever balances between members.
    """

    offer: ClassVar[PlatformOffer] = OFFER

    def __init__(
        self,
        deployment: Deployment,
        hosts: Sequence[Host],
        substrate: Substrate | None,
        trees: SoftwareStore,
        stay: str,
    ) -> None:
        if not isinstance(substrate, HasSwarm):
            raise unsupported(deployment, "a Docker Swarm of all hosts")
        super().__init__(deployment, hosts, substrate, trees, stay)
        self._swarm: HasSwarm = substrate
        self._orders: DockerClient | None = None
        self._making: Lock = Lock()
        self._services: dict[str, str] = {}

    def reserve(self, layout: Layout) -> Reservation:
        deployment = self._deployment
        if deployment.network == HOST:
            return self._reserve(layout, places.direct)
        inside = {CONTAINER_DNS: places.named, SERVICE_IP: places.served}
        if deployment.endpoint in inside:
            return self._reserve(layout, inside[deployment.endpoint])
        if deployment.endpoint == NODE_PORT:
            _insist_apart(layout, deployment.name)
        if deployment.peers is Peers.DIRECT:
            raise UnavailableError(
                "members that are reached by ports of their hosts use them among each other too: "
                "write `peers: endpoint`, or `endpoint: container-dns`",
                where=deployment.name,
                hint="dunnage schema study",
            )
        return self._reserve(layout, places.translated)

    @property
    def _published(self) -> str | None:
        """Whose ports the ports of members are as well: of their `host`, or of all (`ingress`)."""
        if self._deployment.endpoint in OF_HOSTS:
            return "host"
        return "ingress" if self._deployment.endpoint == NODE_PORT else None

    @property
    def _manager(self) -> DockerClient:
        if self._orders is None:
            self._orders = self._connect(self._swarm.manager, self._swarm.manager.host)
        return self._orders

    @property
    def _api(self) -> Any:
        """The manager's plain API, which the SDK has not typed."""
        return self._manager.api

    @property
    def _network(self) -> str:
        return network_name(self._deployment.network, self._stay)

    def _stood_for(self) -> Mapping[str, str]:
        if self._deployment.endpoint != SERVICE_IP:
            return super()._stood_for()
        with spoken("the stay's network cannot be inspected", self._swarm.manager.host):
            network = str(self._manager.networks.get(self._network).id)
        found = {}
        for member, service in self._services.items():
            with spoken("the service cannot be inspected", member):
                inspected = self._api.inspect_service(service)
            found[member] = virtual_address(inspected, network, member)
        return found

    def _prepare_network(self, host: Host) -> None:
        if self._deployment.network != OVERLAY:
            return
        with self._making, spoken("the stay's network cannot be created", host.name):
            if not self._manager.networks.list(filters=self._stay.filter):
                options = self._deployment.network_options
                self._manager.networks.create(
                    **described("overlay", options, self._stay), attachable=True
                )

    def _within(self, host: Host) -> str | None:
        """The range in which a member's own address on a host lies; None where it is the host's."""
        if self._deployment.network == HOST:
            return None
        if self._deployment.endpoint in OF_HOSTS:
            return subnet(self._client(host), _GATEWAY, host.name)
        network = _INGRESS if self._deployment.endpoint == NODE_PORT else self._network
        return subnet(self._manager, network, self._swarm.manager.host)

    def _start(
        self,
        service: Service,
        place: Place,
        host: Host,
        deadline: Deadline,  # noqa: ARG002  # it waits for nothing
    ) -> ContainerMember:
        self._make_directories(place, host)
        tree, client = self._trees.tree(service.software), self._client(host)
        within, argv = self._within(host), command(service.argv, tree)
        if within is not None:
            argv = wrapped(host.engine, service, within, argv)
        described = arguments(
            service,
            place,
            stay=self._stay,
            node=self._swarm.node(host.name),
            image=image_of(tree),
            argv=argv,
            engine=host.engine,
            network=self._deployment.network,
            mode="vip" if self._deployment.endpoint in (SERVICE_IP, NODE_PORT) else "dnsrr",
            published=self._published if within is not None else None,
            storage=self._deployment.storage,
            limits=self._deployment.limits,
            ulimits=ulimits_of(host),
        )
        with spoken("the service cannot be created", service.member):
            created = self._api.create_service(**described)
        self._services[service.member] = str(created["ID"])
        container = self._container_of(service.member, client)
        member = ContainerMember(service, host, tree, self._daemon(host), client, container)
        self._note_address(member, within)
        return member

    def _container_of(self, member: str, client: DockerClient) -> Container:
        """The container of a service's only task, once it runs or has run.

        Raises StayError with the last error of the task when it will have none.
        """
        ends = time.monotonic() + _STARTED
        status: dict[str, Any] = {}
        while time.monotonic() < ends:
            with spoken("the service's task cannot be inspected", member):
                tasks = self._api.tasks(filters={"service": self._services[member]})
            status = tasks[0]["Status"] if tasks else {}
            container = str((status.get("ContainerStatus") or {}).get("ContainerID") or "")
            ended = status.get("State") in _FAILED
            if container and (status["State"] == "running" or ended):
                with spoken("the service's container cannot be inspected", member):
                    return client.containers.get(container)
            if ended:
                break
            time.sleep(_INTERVAL)
        raise StayError(
            f"its service did not start within {_STARTED:g} s: its task is "
            f"{status.get('State', 'not there')}, {status.get('Err') or status.get('Message', '')}",
            where=member,
            hint=f"docker service ps --no-trunc {self._stay.thing(member)}",
        )

    def _after_stops(self) -> Iterable[Step]:
        """Remove the services, whose members have ended by now, and wait for their containers.

        A Swarm that has to stop a task waits 2 s for other nodes to learn of it; one that has ended
        it removes at once.
        """
        if self._orders is None:
            return
        yield self._swarm.manager.host, self._remove_services
        for member in self._members.values():
            yield member.host.name, partial(_await_gone, member)

    def _last_steps(self) -> Iterable[Step]:
        if self._orders is not None:
            yield self._swarm.manager.host, self._remove_networks
            for host, client in self._clients.items():
                yield host, partial(_until, partial(self._forgotten, client), "its network", host)

    def _remove_services(self) -> None:
        with spoken("the stay's services cannot be removed", self._swarm.manager.host):
            for service in self._manager.services.list(filters=self._stay.filter):
                self._api.remove_service(service.id)

    def _remove_networks(self) -> None:
        where = self._swarm.manager.host
        for network in self._manager.networks.list(filters=self._stay.filter):
            _until(partial(_removed, network), f"network `{network.name}`", where)

    def _forgotten(self, client: DockerClient) -> bool:
        """Whether a node has let go of the stay's network, which it does by itself."""
        return not any(each.name == self._stay.network for each in client.networks.list())

    def down(self) -> None:
        try:
            super().down()
        finally:
            if self._orders is not None:
                self._orders.close()


def _insist_apart(layout: Layout, deployment: str) -> None:
    """Raise UnavailableError where members share a port: the routing mesh has each port once."""
    ports = [port for seat in layout.seats for port in seat.ports.values()]
    if len(set(ports)) < len(ports):
        raise UnavailableError(
            "members with the same port cannot all be reached by node ports: a Swarm has each port "
            "once, for all its nodes",
            where=deployment,
            hint="dunnage schema study  # name another endpoint, such as host-port",
        )


def _await_gone(member: ContainerMember) -> None:
    """Wait until a member's container is no longer there."""

    def gone() -> bool:
        try:
            member.container.reload()
        except NotFound:
            return True
        return False

    _until(gone, "its container", member.service.member)


def _removed(network: Any) -> bool:
    """Try to remove a network, which its manager refuses while a task may still use it."""
    try:
        network.remove()
    except NotFound:
        return True
    except APIError:
        return False
    return True


def _until(done: Callable[[], bool], what: str, where: str) -> None:
    ends = time.monotonic() + _REMOVED
    while time.monotonic() < ends:
        with spoken(f"{what} cannot be removed", where):
            if done():
                return
        time.sleep(_INTERVAL)
    raise StayError(
        f"{what} is still there after {_REMOVED:g} s", where=where, hint="dunnage clean"
    )
