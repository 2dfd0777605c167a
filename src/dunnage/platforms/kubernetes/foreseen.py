"""The objects of a stay before anything is there, in the order in which they will be created. Pure.

They are made as the platform makes them. What is the cluster's to choose is assumed twice: wherever
the two differ, the value is unknown, be it only computed from what was chosen.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import count
from typing import Any

from dunnage.contracts.host import Site
from dunnage.contracts.software import SoftwareStore
from dunnage.model.choices import ClientPlace
from dunnage.model.layout import ENGINE_TREE, Layout, Reservation, Service, Stage
from dunnage.platforms import places
from dunnage.platforms.kubernetes import objects
from dunnage.platforms.kubernetes.addresses import Served
from dunnage.platforms.kubernetes.carried import insist_it_fits
from dunnage.platforms.kubernetes.images import chosen
from dunnage.platforms.kubernetes.manifests import Manifests
from dunnage.platforms.kubernetes.objects import Image, Manifest
from dunnage.platforms.kubernetes.storage import directories

Where = tuple[str | int, ...]
"""The keys and numbers that lead to a value in a manifest."""
Choose = Callable[[Mapping[str, Manifest]], Mapping[str, Served]]
"""What the cluster chooses for the services before members."""

_CHOSEN = "the cluster chooses it when the services are there"


@dataclass(frozen=True)
class Ground:
    """What a deployment will stand on."""

    hosts: Sequence[Site]
    clients: Sequence[Site]
    trees: SoftwareStore
    nodes: Mapping[str, str]
    """Host → name of its node."""
    hostnames: Mapping[str, str]
    """Host → what the label of its node says by which a volume is bound to it."""
    ours: bool
    """Whether the nodes are, so that images can be brought there."""
    floating: Callable[[Site], str]
    agents: str = ""
    """The image of agents, which every node has; empty where nodes are ours and have none."""
    elsewhere: Ground | None = None
    """The same with other values wherever one is not known yet; None where all are."""
    why: str = ""
    """Why those are not known."""
    beside: Callable[[Site, str, Mapping[str, str]], Manifest] | None = None
    """Where pods may have nothing of their nodes: makes the one in which a host's client is, in a
    namespace and with these labels."""


@dataclass(frozen=True)
class ForeseenObject:
    """One object, and what is to be known of it."""

    manifest: Manifest
    host: str = ""
    """Where its pod will be; empty if it is nowhere."""
    needs: tuple[str, ...] = ()
    """Images, directories and files that will be put on that host before."""
    carried: tuple[str, ...] = ()
    """Files that will be written into its pod before its member starts there."""
    unknown: Mapping[Where, str] = field(default_factory=dict)
    """Where it holds something that is not known yet, and why."""


def foreseen(
    manifests: Manifests,
    layout: Layout,
    stages: Callable[[Reservation], Sequence[Stage]],
    ground: Ground,
) -> tuple[ForeseenObject, ...]:
    """All objects of a stay in their order, with what is not known yet.

    Raises UnavailableError where a node could not be brought an image, or the deployment needs what
    only a node has and its pods may have nothing of theirs.
    """
    if ground.beside is not None:
        insist_it_fits(manifests.deployment, "its pods may have nothing of their nodes")

    def made(first: int, on: Ground) -> tuple[ForeseenObject, ...]:
        return tuple(created(manifests, layout, stages, on, assumed(first)))

    one, another = made(1, ground), made(101, ground)
    elsewhere = one if ground.elsewhere is None else made(1, ground.elsewhere)
    return tuple(
        replace(
            here,
            unknown={
                **unlike(here.manifest, there.manifest, _CHOSEN),
                **unlike(here.manifest, node.manifest, ground.why),
            },
        )
        for here, there, node in zip(one, another, elsewhere, strict=True)
    )


def created(
    manifests: Manifests,
    layout: Layout,
    stages: Callable[[Reservation], Sequence[Stage]],
    ground: Ground,
    choose: Choose,
) -> Iterator[ForeseenObject]:
    """All objects of a stay in their order, where the cluster chooses so for services."""

    def reserved(addressing: places.Addressing) -> Reservation:
        prefix = ground.trees.tree(layout.software).prefix
        told = places.as_clients_are_told(addressing, manifests.endpoint, ground.floating)
        return places.reserve(layout, ground.hosts, prefix, told)

    yield ForeseenObject(manifests.namespace())
    services = manifests.services(reserved(places.translated))
    yield from map(ForeseenObject, services.values())
    reservation = reserved(manifests.addressing(choose(services)))
    members = [place.member for place in reservation.places]
    yield from map(ForeseenObject, manifests.names(members).values())
    for stage in stages(reservation):
        for service in stage.services:
            yield from _member(manifests, service, reservation, ground)
    if manifests.deployment.client is ClientPlace.CONTAINER and ground.beside is not None:
        for host in ground.clients:
            pod = ground.beside(host, manifests.stay.network, objects.labels(manifests.stay))
            yield ForeseenObject(pod, host.name)
    elif manifests.deployment.client is ClientPlace.CONTAINER:
        tree = ground.trees.tree(ENGINE_TREE)
        for host in ground.clients:
            image = (
                Image(ground.agents, imported=False)
                if ground.agents
                else chosen(host, tree, ours=ground.ours)
            )
            node = ground.nodes[host.name]
            pod = manifests.client(host, tree=tree, image=image, node=node)
            yield ForeseenObject(pod, host.name, _brought(image))


def assumed(first: int) -> Choose:
    """Node ports and addresses that count up, each of them once."""

    def choose(services: Mapping[str, Manifest]) -> Mapping[str, Served]:
        number = count(first)
        return {
            member: Served(
                f"192.0.2.{next(number)}",  # TEST-NET-1 (RFC 5737): it can belong to nobody
                {each["port"]: 30000 + next(number) for each in service["spec"]["ports"]},
            )
            for member, service in services.items()
        }

    return choose


def unlike(one: Manifest, another: Manifest, why: str) -> Mapping[Where, str]:
    """Where two manifests of the same object hold different values, each for the same reason."""
    return dict.fromkeys(differing(one, another), why)


def differing(one: Any, another: Any, where: Where = ()) -> Iterator[Where]:
    """Where two manifests of the same object hold different values."""
    if isinstance(one, Mapping):
        for key, value in one.items():
            yield from differing(value, another[key], (*where, key))
    elif isinstance(one, list):
        for number, value in enumerate(one):
            yield from differing(value, another[number], (*where, number))
    elif one != another:
        yield where


def _member(
    manifests: Manifests, service: Service, reservation: Reservation, ground: Ground
) -> Iterator[ForeseenObject]:
    place = reservation.place(service.member)
    host = next(each for each in ground.hosts if each.name == place.host)
    tree = ground.trees.tree(service.software)
    image = chosen(host, tree, ours=ground.ours)
    apart = ground.beside is not None
    *kept, stateful_set = manifests.member(
        service,
        place,
        host,
        tree=tree,
        image=image,
        node=ground.nodes[host.name],
        hostname=ground.hostnames[host.name],
        apart=apart,
    )
    yield from map(ForeseenObject, kept)
    files = tuple(f"file {each}" for each in service.files)
    if apart:
        carried = (f"file {host.engine}", *files)
        yield ForeseenObject(stateful_set, host.name, carried=carried)
        return
    made = directories(place, manifests.deployment.storage)
    needs = (*_brought(image), *(f"directory {each}" for each in made), *files)
    yield ForeseenObject(stateful_set, host.name, needs)


def _brought(image: Image) -> tuple[str, ...]:
    return (f"image {image.name}",) if image.imported else ()
