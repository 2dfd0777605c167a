"""An offer for tests, of the shape that the catalog has."""

from __future__ import annotations

from dunnage.model.choices import ClientPlace, Storage
from dunnage.model.deployment import Guess
from dunnage.model.offer import (
    HOST_PORT,
    DatabaseOffer,
    EndpointOffer,
    NetworkOffer,
    Offer,
    PartOffer,
    PlatformOffer,
    SubstrateOffer,
    TestbedOffer,
)
from dunnage.model.study import DatabaseSpec


def _redis_fits(spec: DatabaseSpec) -> tuple[tuple[str, str], ...]:
    if spec.topology == "single" and spec.members != 1:
        return (("members", f"a single Redis has one member, not {spec.members}"),)
    if spec.topology == "cluster" and spec.members < 3:
        return (("members", f"a Redis cluster needs 3 members or more, not {spec.members}"),)
    return ()


def _redis_restores(spec: DatabaseSpec) -> tuple[tuple[str, str], ...]:
    return (("topology", "a cluster's files hold addresses"),) if spec.topology == "cluster" else ()


def _anything_fits(_: DatabaseSpec) -> tuple[tuple[str, str], ...]:
    return ()


PORTS = {"host-port": HOST_PORT}
NAME = EndpointOffer("ContainerDNSName", of_cluster=True)
PODS = {
    "container-dns": NAME,
    "service-ip": EndpointOffer("ServiceIP", of_cluster=True, joined=True),
    "node-port": EndpointOffer("NodePort", of_cluster=True),
}

OFFER = Offer(
    testbeds={
        "namespace": TestbedOffer(title="Host", meaning="hosts of namespaces", networks=True),
        "nodes": TestbedOffer(
            title="Node", meaning="nodes", here=False, brings={"kubernetes": "nodes"}
        ),
        "fake": TestbedOffer(title="Fake", meaning="hosts in memory", fake=True, networks=True),
    },
    substrates={
        "docker": {"daemons": SubstrateOffer(), "existing": SubstrateOffer(contexts=True)},
        "swarm": {
            "own": SubstrateOffer(below="docker", control=True),
            "existing": SubstrateOffer(contexts=True, beside=("control",)),
        },
        "kubernetes": {
            "own": SubstrateOffer(control=True),
            "nodes": SubstrateOffer(of_testbed=True),
        },
        "fake": {"fake": SubstrateOffer()},
    },
    platforms={
        "native": PlatformOffer(
            networks={"host": NetworkOffer(PORTS)},
            stay_seconds=1.5,
            storages=(Storage.BIND, Storage.TMPFS),
            clients=(ClientPlace.HOST,),
            substrate=None,
            restorable=(Storage.BIND,),
        ),
        "docker": PlatformOffer(
            networks={
                "host": NetworkOffer(PORTS, "Only", "with host networking"),
                "bridge": NetworkOffer(PORTS, "Bridge", "with a bridge network"),
                "user-defined": NetworkOffer(
                    {**PORTS, "container-dns": NAME}, "UserDefined", "with a user-defined network"
                ),
            },
            stay_seconds=3.0,
            name="Docker",
            title="Docker",
            storages=(Storage.BIND, Storage.VOLUME, Storage.CONTAINER, Storage.TMPFS),
            clients=(ClientPlace.HOST, ClientPlace.CONTAINER),
            substrate="docker",
            restorable=(Storage.BIND, Storage.VOLUME),
        ),
        "swarm": PlatformOffer(
            networks={"overlay": NetworkOffer({**PORTS, "container-dns": NAME})},
            stay_seconds=8.0,
            name="Swarm",
            title="Swarm",
            storages=(Storage.BIND, Storage.VOLUME),
            clients=(ClientPlace.HOST, ClientPlace.CONTAINER),
            substrate="swarm",
            restorable=(Storage.BIND, Storage.VOLUME),
        ),
        "kubernetes": PlatformOffer(
            networks={"flannel-vxlan": NetworkOffer({**PORTS, **PODS})},
            stay_seconds=12.0,
            name="Kubernetes",
            title="K8",
            storages=(Storage.BIND, Storage.VOLUME),
            clients=(ClientPlace.HOST, ClientPlace.CONTAINER),
            substrate="kubernetes",
            restorable=(Storage.BIND, Storage.VOLUME),
        ),
        "fake": PlatformOffer(
            networks={
                "plain": NetworkOffer(PORTS, "Plain"),
                "late": NetworkOffer(PORTS, "Late"),
            },
            stay_seconds=0.0,
            title="Fake",
            fake=True,
            storages=(Storage.BIND,),
            clients=(ClientPlace.HOST, ClientPlace.CONTAINER),
            substrate="fake",
            restorable=(Storage.BIND,),
        ),
    },
    databases={
        "redis": DatabaseOffer(
            versions=("7.0",),
            topologies=("replicas", "single", "cluster"),
            name="Redis",
            check=_redis_fits,
            check_restore=_redis_restores,
        ),
        "cassandra": DatabaseOffer(
            versions=("5.0",),
            topologies=("ring",),
            name="Cassandra",
            guess=Guess(up=45.0, settling=8.0, loading=450.0),
            check=_anything_fits,
            check_restore=_anything_fits,
            images=False,
        ),
        "unkept": DatabaseOffer(
            versions=("1.0",),
            topologies=("single",),
            name="Unkept",
            check=_anything_fits,
            images=False,
        ),
        "fake": DatabaseOffer(
            versions=("1.0",),
            topologies=("sharded", "single"),
            name="the fake database",
            fake=True,
            check=_anything_fits,
            images=False,
        ),
    },
    generators={"engine": PartOffer(), "fake": PartOffer(fake=True)},
    samplers={"engine": PartOffer(), "fake": PartOffer(fake=True)},
)
