"""All objects of a stay in a Kubernetes, for its platform and for whoever foresees it. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from dunnage.contracts.cluster import OF_A_TESTBED
from dunnage.contracts.host import Site
from dunnage.contracts.software import Tree
from dunnage.model.choices import Peers
from dunnage.model.deployment import Deployment
from dunnage.model.layout import ENGINE_PROGRAM, Place, Reservation, Service
from dunnage.model.offer import OF_HOSTS, EndpointOffer
from dunnage.platforms import places
from dunnage.platforms.image_of_tree import command
from dunnage.platforms.kubernetes import objects
from dunnage.platforms.kubernetes.addresses import Served, addressing
from dunnage.platforms.kubernetes.carried import carried
from dunnage.platforms.kubernetes.objects import Image, Manifest
from dunnage.platforms.kubernetes.storage import claimed
from dunnage.platforms.late_start import wrapped
from dunnage.platforms.offered import CONTAINER_DNS, HOST, NODE_PORT, SERVICE_IP
from dunnage.platforms.stay_names import StayNames

_ANY = "0.0.0.0/0"
"""A pod has one address; in which range is its network plugin's to say."""


@dataclass(frozen=True)
class Manifests:
    """What one stay of a deployment has in a cluster, as it is sent there."""

    deployment: Deployment
    stay: StayNames
    labels: Mapping[str, str] = field(default_factory=dict)
    """Of every namespace that is made there, besides its own."""

    @property
    def in_own(self) -> bool:
        """Whether a pod has a network of its own."""
        return self.deployment.network != HOST

    @property
    def served(self) -> bool:
        """Whether clients go by a service of its own before each member."""
        return self.deployment.endpoint in (SERVICE_IP, NODE_PORT)

    @property
    def endpoint(self) -> EndpointOffer | None:
        """The endpoint under study, where hosts provide it."""
        return OF_HOSTS.get(self.deployment.endpoint)

    def addressing(self, services: Mapping[str, Served]) -> places.Addressing:
        """How members' ports are addressed, given what the cluster chose for their services."""
        if not self.in_own:
            return places.direct
        return addressing(self.deployment.endpoint, self.deployment.peers, services)

    def namespace(self) -> Manifest:
        """What holds all others."""
        return objects.namespace(self.stay, self.labels)

    def services(self, reservation: Reservation) -> Mapping[str, Manifest]:
        """Member → the service by which it is reached; none where none is wanted.

        Its address, or node ports, are the cluster's to choose. With node ports a member's own
        ports are those of its node.
        """
        if not self.served:
            return {}
        by_port = self.deployment.endpoint == NODE_PORT
        kind = objects.NODE_PORT if by_port else objects.CLUSTER_IP
        made = {}
        for place in reservation.places:
            ports = {name: each.bind.port for name, each in place.ports.items()}
            made[place.member] = objects.endpoint(
                place.member, ports, self.stay, kind, by_name=by_port
            )
        return made

    def names(self, members: Iterable[str]) -> Mapping[str, Manifest]:
        """Member → what gives it its headless name, before the first of them starts."""
        return {member: objects.headless(member, self.stay) for member in members}

    def member(
        self,
        service: Service,
        place: Place,
        host: Site,
        *,
        tree: Tree,
        image: Image,
        node: str,
        hostname: str,
        apart: bool = False,
    ) -> tuple[Manifest, ...]:
        """What a member is made of: its volume with a claim to it, if it has one, and its set.

        `hostname` is what the label of its node says by which a volume is bound to it. One that is
        `apart` has nothing of its host: its files are carried into its pod.
        """
        argv = command(service.argv, tree)
        storage = self.deployment.storage
        own = objects.labels(self.stay, place.member)
        testbed = {name: self.labels[name] for name in (OF_A_TESTBED,) if name in self.labels}
        labelled = {**own, **testbed}
        kept = claimed(place, storage, stay=self.stay, hostname=hostname, labels=labelled)
        stateful_set = objects.stateful_set(
            service,
            place,
            stay=self.stay,
            node=node,
            image=image,
            argv=wrapped(host.engine, service, _ANY, argv) if self.in_own else argv,
            engine=host.engine,
            host_network=not self.in_own,
            published=host.address if self._published else None,
            storage=storage,
            limits=self.deployment.limits,
            named=self.in_own and self._by_name,
        )
        if apart:
            stateful_set = carried(stateful_set, place, host.engine)
        return (*kept, stateful_set)

    def client(self, host: Site, *, tree: Tree, image: Image, node: str) -> Manifest:
        """The pod on a client's host whose network clients have."""
        engine = f"{tree.prefix}/{ENGINE_PROGRAM}"
        return objects.client_pod(host.name, stay=self.stay, node=node, image=image, engine=engine)

    @property
    def _published(self) -> bool:
        """Whether a member's ports are ports of its host as well."""
        return self.in_own and self.endpoint is not None

    @property
    def _by_name(self) -> bool:
        """Whether members go by their headless names among each other."""
        by_name = self.deployment.peers is Peers.DIRECT
        return by_name or self.deployment.endpoint == CONTAINER_DNS
