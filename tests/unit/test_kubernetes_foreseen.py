"""What is foreseen of a stay's objects is what its platform creates, of every endpoint."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

import pytest
from played_kubernetes import (
    DATABASES,
    HOSTS,
    REDIS,
    RING,
    Cluster,
    Nodes,
    Trees,
    deployed,
    played,
    substrate,
)

from dunnage.contracts.host import Site
from dunnage.errors import UnavailableError
from dunnage.hosts.fake.testbed import FakeTestbed, open_fake
from dunnage.model.choices import ClientPlace, Peers, Storage
from dunnage.model.deployment import Deployment
from dunnage.platforms.kubernetes.foreseen import Ground, created, differing, foreseen
from dunnage.platforms.kubernetes.manifests import Manifests
from dunnage.platforms.kubernetes.offer import OFFER
from dunnage.platforms.kubernetes.platform import Kubernetes
from dunnage.platforms.stay_names import StayNames

INSIDE = {"client": ClientPlace.CONTAINER}
VXLAN = "flannel-vxlan"
DEPLOYMENTS = [
    *(
        deployed(network, name, **(INSIDE if ClientPlace.HOST not in offer.clients else {}))
        for network in (VXLAN, "host")
        for name, offer in OFFER.networks[network].endpoints.items()
    ),
    deployed(VXLAN, "service-ip", peers=Peers.DIRECT, **INSIDE),
    deployed(VXLAN, "host-port", storage=Storage.VOLUME),
    deployed(VXLAN, "node-port", storage=Storage.TMPFS, database=RING),
    deployed(VXLAN, "service-ip", database=REDIS.model_copy(update={"image": "redis:7"})),
]


@pytest.fixture
def cluster(monkeypatch: pytest.MonkeyPatch) -> Cluster:
    return played(monkeypatch)


@pytest.fixture
def testbed() -> Iterator[FakeTestbed]:
    with open_fake(HOSTS, name="foreseen") as opened:
        yield opened


def ground(testbed: FakeTestbed, *, ours: bool = True) -> Ground:
    return Ground(
        hosts=testbed.group("db"),
        clients=testbed.group("client"),
        trees=Trees(),
        nodes={host.name: Nodes().node(host.name) for host in testbed.hosts},
        hostnames={host.name: Nodes().node(host.name) for host in testbed.hosts},
        ours=ours,
        floating=lambda host: f"floating-{host.name}",
    )


def brought_up(deployment: Deployment, testbed: FakeTestbed) -> None:
    """Have the platform create all that a stay needs."""
    platform = Kubernetes(deployment, testbed.group("db"), substrate(), Trees(), "b01-d")
    database, spec = DATABASES[deployment.database.kind], deployment.database
    reservation = platform.reserve(database.layout(spec))
    for number in range(len(database.stages(spec, reservation))):
        platform.up(database.stages(spec, reservation)[number].services, 1.0)
        reservation = reservation.filled(platform.late())
    for host in testbed.group("client"):
        platform.client(host)


def name_of(deployment: Deployment) -> str:
    inside = deployment.client.value if deployment.client is ClientPlace.CONTAINER else ""
    words = (deployment.network, deployment.endpoint, deployment.storage.value, inside)
    return "-".join(filter(None, (*words, deployment.database.kind, deployment.peers.value)))


@pytest.mark.parametrize("deployment", DEPLOYMENTS, ids=name_of)
def test_what_is_foreseen_is_what_the_cluster_is_given_in_the_same_order(
    deployment: Deployment, cluster: Cluster, testbed: FakeTestbed
) -> None:
    brought_up(deployment, testbed)
    stay = StayNames(cluster.given[0]["metadata"]["labels"]["dunnage.stay"])
    database, spec = DATABASES[deployment.database.kind], deployment.database
    found = created(
        Manifests(deployment, stay),
        database.layout(spec),
        lambda now: database.stages(spec, now),
        ground(testbed),
        lambda _: cluster.chosen,
    )
    assert [each.manifest for each in found] == cluster.given
    kinds = [each["kind"] for each in cluster.given]
    assert kinds[0] == "Namespace"
    assert kinds.count("StatefulSet") == spec.members
    assert kinds.count("PersistentVolume") == (
        spec.members if deployment.storage is Storage.VOLUME else 0
    )
    assert kinds.count("Pod") == (2 if deployment.client is ClientPlace.CONTAINER else 0)


def looked_ahead(deployment: Deployment, on: Ground) -> list[Any]:
    database, spec = DATABASES[deployment.database.kind], deployment.database
    stay = Manifests(deployment, StayNames.of("b01-d", "00000000"))
    return list(foreseen(stay, database.layout(spec), lambda now: database.stages(spec, now), on))


def at(manifest: Any, where: Iterable[str | int]) -> Any:
    for step in where:
        manifest = manifest[step]
    return manifest


def test_what_only_the_cluster_knows_is_told_and_what_is_computed_of_it(
    testbed: FakeTestbed,
) -> None:
    objects = looked_ahead(deployed(VXLAN, "node-port", database=RING), ground(testbed))
    unknown = {
        at(each.manifest, where): why for each in objects for where, why in each.unknown.items()
    }
    ports = {value for value in unknown if isinstance(value, int)}
    assert len(ports) == 4  # two members with two ports each
    assert [word for word in unknown if "jmx" in str(word)], unknown
    assert set(unknown.values()) == {"the cluster chooses it when the services are there"}


@pytest.mark.parametrize("endpoint", ["host-port", "service-ip", "container-dns"])
def test_otherwise_everything_is_known(testbed: FakeTestbed, endpoint: str) -> None:
    assert not any(
        each.unknown for each in looked_ahead(deployed(VXLAN, endpoint), ground(testbed))
    )


def test_what_a_pod_finds_on_its_host_is_told(testbed: FakeTestbed) -> None:
    objects = looked_ahead(deployed(VXLAN, "host-port", **INSIDE), ground(testbed))
    needs = {each.manifest["metadata"]["name"]: (each.host, each.needs) for each in objects}
    mine = f"{testbed.hosts[0].scratch}/members/redis-1"
    assert needs["redis-1"] == (
        "db-1",
        (
            "image dunnage/redis-7.0:1",
            f"directory {mine}/home",
            f"directory {mine}/data",
            f"file {mine}/home/redis.conf",
        ),
    )
    assert needs["client-client-2"] == ("client-2", ("image dunnage/engine-built:1",))


def test_on_nodes_of_someone_elses_an_image_must_be_named_and_nodes_are_unknown(
    testbed: FakeTestbed,
) -> None:
    theirs = ground(testbed, ours=False)
    others = {host: f"{node}-or-another" for host, node in theirs.nodes.items()}
    theirs = replace(theirs, elsewhere=replace(theirs, nodes=others), why="it is chosen later")
    with pytest.raises(UnavailableError, match="cannot be brought to a node that is not ours"):
        looked_ahead(deployed(VXLAN, "host-port"), theirs)
    named = REDIS.model_copy(update={"image": "redis:7"})
    objects = looked_ahead(deployed(VXLAN, "host-port", database=named), theirs)
    unknown = {
        at(each.manifest, where): why for each in objects for where, why in each.unknown.items()
    }
    assert unknown == dict.fromkeys(("node-db-1", "node-db-2"), "it is chosen later")
    assert not any("image" in need for each in objects for need in each.needs)


def test_on_nodes_of_someone_elses_a_client_runs_what_their_agents_do(
    testbed: FakeTestbed,
) -> None:
    theirs = replace(ground(testbed, ours=False), agents="busybox:1")
    named = REDIS.model_copy(update={"image": "redis:7"})
    objects = looked_ahead(deployed(VXLAN, "host-port", database=named, **INSIDE), theirs)
    clients = [each.manifest for each in objects if each.manifest["kind"] == "Pod"]
    images = [container["image"] for pod in clients for container in pod["spec"]["containers"]]
    assert images == ["busybox:1", "busybox:1"]


def test_differences_are_found_at_any_depth() -> None:
    one = {"a": [{"b": 1}, "c"], "d": 2}
    assert list(differing(one, {"a": [{"b": 3}, "c"], "d": 2})) == [("a", 0, "b")]
    assert list(differing(one, one)) == []


def test_floating_addresses_are_those_of_the_hosts(testbed: FakeTestbed) -> None:
    asked: list[str] = []

    def floating(host: Site) -> str:
        asked.append(host.name)
        return "10.77.1.1"

    on = ground(testbed)
    looked_ahead(
        deployed(VXLAN, "floating-ip"),
        replace(on, floating=floating),
    )
    assert set(asked) == {"db-1", "db-2"}
