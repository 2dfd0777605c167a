"""Members in containers, one daemon on each host."""

from __future__ import annotations

import io
import tarfile
from collections.abc import Sequence
from typing import ClassVar

from dunnage.contracts.docker import HasDaemons
from dunnage.contracts.host import Host
from dunnage.contracts.software import SoftwareStore
from dunnage.contracts.substrate import Substrate
from dunnage.deadline import Deadline
from dunnage.errors import UnavailableError
from dunnage.model.choices import Peers, Storage
from dunnage.model.deployment import Deployment
from dunnage.model.layout import Layout, Place, Reservation, Service
from dunnage.model.offer import PlatformOffer
from dunnage.platforms import places
from dunnage.platforms.container_member import ContainerMember, spoken
from dunnage.platforms.containers import arguments, described, network_name
from dunnage.platforms.docker_offer import OFFER
from dunnage.platforms.image_of_tree import command, image_of
from dunnage.platforms.late_start import wrapped
from dunnage.platforms.offered import HOST, USER_DEFINED, unsupported
from dunnage.platforms.on_daemons import OnDaemons, ulimits_of
from dunnage.platforms.subnets import subnet


class Docker(OnDaemons):
    """Containers with the paths, the command, the user and the limits that a process has natively.

    On a bridge a member binds to the address that its container is given, once it is known.
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
        if not isinstance(substrate, HasDaemons):
            raise unsupported(deployment, "a Docker daemon on every host")
        super().__init__(deployment, hosts, substrate, trees, stay)

    def reserve(self, layout: Layout) -> Reservation:
        if not self._bridged:
            return self._reserve(layout, places.direct)
        if self._deployment.peers is Peers.DIRECT:
            raise UnavailableError(
                "containers on a bridge reach other hosts' containers only through published "
                "ports: write `peers: endpoint`, or `network: host`",
                where=self._deployment.name,
                hint="dunnage schema study",
            )
        return self._reserve(layout, places.translated)

    @property
    def _bridged(self) -> bool:
        return self._deployment.network != HOST

    @property
    def _network(self) -> str:
        return network_name(self._deployment.network, self._stay)

    def _prepare_network(self, host: Host) -> None:
        client = self._client(host)
        if self._deployment.network == USER_DEFINED:
            with spoken("the stay's network cannot be created", host.name):
                if not client.networks.list(filters=self._stay.filter):
                    options = self._deployment.network_options
                    client.networks.create(**described("bridge", options, self._stay))

    def _start(
        self,
        service: Service,
        place: Place,
        host: Host,
        deadline: Deadline,  # noqa: ARG002  # it waits for nothing
    ) -> ContainerMember:
        self._make_directories(place, host)
        tree = self._trees.tree(service.software)
        client = self._client(host)
        argv = command(service.argv, tree)
        within = subnet(client, self._network, host.name) if self._bridged else None
        if within is not None:
            argv = wrapped(host.engine, service, within, argv)
        with spoken("the container cannot be started", service.member):
            container = client.containers.create(
                **arguments(
                    service,
                    place,
                    stay=self._stay,
                    image=image_of(tree),
                    argv=argv,
                    engine=host.engine,
                    address=host.address,
                    network=self._deployment.network,
                    storage=self._deployment.storage,
                    limits=self._deployment.limits,
                    ulimits=ulimits_of(host),
                )
            )
            if self._deployment.storage is Storage.CONTAINER:
                container.put_archive("/", _directory(place.data))
            container.start()
        member = ContainerMember(service, host, tree, self._daemon(host), client, container)
        self._note_address(member, within)
        return member


def _directory(path: str) -> bytes:
    """An archive that holds one empty directory."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as tar:
        entry = tarfile.TarInfo(path.lstrip("/"))
        entry.type = tarfile.DIRTYPE
        entry.mode = 0o755
        tar.addfile(entry)
    return buffer.getvalue()
