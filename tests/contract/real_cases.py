"""How the real implementations are opened for the contract tests."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import replace

from cases import HOSTS, PlatformCase, TestbedCase
from local_channel import lose_local, open_local

from dunnage.contracts.host import Host
from dunnage.contracts.platform import Platform
from dunnage.contracts.substrate import Substrate
from dunnage.contracts.testbed import Testbed, Translates
from dunnage.databases.redis.database import Redis
from dunnage.hosts.namespace.testbed import NamespaceTestbed, open_namespace
from dunnage.model.choices import ClientPlace
from dunnage.model.study import CONTROL_GROUP, DatabaseSpec
from dunnage.platforms.docker import Docker
from dunnage.platforms.kubernetes.platform import Kubernetes
from dunnage.platforms.native import Native
from dunnage.platforms.swarm import Swarm as SwarmPlatform
from dunnage.software.engine import engine_path
from dunnage.software.trees import DebianSoftware
from dunnage.substrates.daemons import open_daemons
from dunnage.substrates.kubernetes.choices import Choices, Network
from dunnage.substrates.kubernetes.own import OwnKubernetes, open_kubernetes
from dunnage.substrates.swarm import Swarm, open_swarm


def _open_namespace(name: str) -> AbstractContextManager[Testbed]:
    return open_namespace(HOSTS, name=name, engine=engine_path(), keep=False)


def _lose_namespace(testbed: Testbed, host: Host) -> None:
    assert isinstance(testbed, NamespaceTestbed)
    testbed.host(host.name).power_cut()


def _open_controlled(name: str) -> AbstractContextManager[Testbed]:
    spec = HOSTS.model_copy(update={"hosts": {**HOSTS.hosts, CONTROL_GROUP: 1}})
    return open_namespace(spec, name=name, engine=engine_path(), keep=False)


@contextmanager
def _translated(opened: AbstractContextManager[Testbed]) -> Iterator[Testbed]:
    with opened as testbed:
        assert isinstance(testbed, Translates)
        testbed.translate(DebianSoftware().dockerd().environment)
        yield testbed


NAMESPACE = TestbedCase(open=_open_namespace, lose=_lose_namespace)
CONTROLLED = TestbedCase(open=_open_controlled, lose=_lose_namespace)
"""With a host for a Swarm's manager, or a Kubernetes' control plane."""
CHANNEL = TestbedCase(lambda _: open_local(HOSTS), lose_local, theirs=True)
"""Hosts that are reached by a channel only, such as the nodes of a cluster."""
FLOATING = TestbedCase(lambda name: _translated(_open_namespace(name)), _lose_namespace)
FLOATING_CONTROLLED = TestbedCase(lambda name: _translated(_open_controlled(name)), _lose_namespace)
"""With floating addresses besides."""

REDIS_SINGLE = DatabaseSpec(kind="redis", version="7.0", topology="single")
REDIS_REPLICAS = DatabaseSpec(kind="redis", version="7.0", topology="replicas", members=3)
REDIS_CLUSTER = DatabaseSpec(kind="redis", version="7.0", topology="cluster", members=6)
CASSANDRA_ONE = DatabaseSpec(kind="cassandra", version="4.1")
CASSANDRA_RING = DatabaseSpec(kind="cassandra", version="5.0", members=3)


Opener = Callable[[Testbed], AbstractContextManager[Substrate | None]]


def daemons(testbed: Testbed) -> AbstractContextManager[Substrate]:
    return open_daemons(testbed, DebianSoftware().dockerd(), testbed.hosts)


@contextmanager
def swarm(testbed: Testbed) -> Iterator[Swarm]:
    with (
        open_daemons(testbed, DebianSoftware().dockerd(), testbed.hosts) as below,
        open_swarm(testbed, below, testbed.hosts) as opened,
    ):
        yield opened


def kubernetes(testbed: Testbed) -> AbstractContextManager[OwnKubernetes]:
    return open_kubernetes(testbed, DebianSoftware().kubernetes(print), testbed.hosts)


def flannel(testbed: Testbed) -> AbstractContextManager[OwnKubernetes]:
    choices = Choices(Network.FLANNEL_VXLAN)
    binaries = DebianSoftware().kubernetes(print)
    return open_kubernetes(testbed, binaries, testbed.hosts, choices)


_SUBSTRATES: Mapping[type[Platform], tuple[TestbedCase, Opener]] = {
    Native: (NAMESPACE, lambda _testbed: nullcontext()),
    Docker: (NAMESPACE, daemons),
    SwarmPlatform: (CONTROLLED, swarm),
    Kubernetes: (CONTROLLED, flannel),
}


def _redis(
    platform: type[Platform],
    network: str,
    client: ClientPlace = ClientPlace.HOST,
    endpoint: str = "host-port",
) -> PlatformCase:
    testbed, substrate = _SUBSTRATES[platform]
    return PlatformCase(
        testbed=testbed,
        substrate=substrate,
        trees=DebianSoftware,
        platform=platform,
        network=network,
        endpoint=endpoint,
        database=Redis,
        spec=REDIS_REPLICAS,
        client=client,
    )


NATIVE = _redis(Native, "host")
DOCKER_HOST = _redis(Docker, "host")
DOCKER_BRIDGE = _redis(Docker, "bridge")
DOCKER_USER_DEFINED = _redis(Docker, "user-defined", ClientPlace.CONTAINER)
SWARM_HOST_PORT = _redis(SwarmPlatform, "overlay")
DOCKER_FLOATING_IP = replace(_redis(Docker, "bridge", endpoint="floating-ip"), testbed=FLOATING)
SWARM_FLOATING_IP = replace(
    _redis(SwarmPlatform, "overlay", endpoint="floating-ip"), testbed=FLOATING_CONTROLLED
)
SWARM_CONTAINER_DNS = _redis(SwarmPlatform, "overlay", ClientPlace.CONTAINER, "container-dns")
KUBERNETES_HOST_PORT = _redis(Kubernetes, "flannel-vxlan")
KUBERNETES_SERVICE_IP = _redis(Kubernetes, "flannel-vxlan", endpoint="service-ip")
KUBERNETES_NODE_PORT = _redis(Kubernetes, "flannel-vxlan", endpoint="node-port")
KUBERNETES_CONTAINER_DNS = _redis(
    Kubernetes, "flannel-vxlan", ClientPlace.CONTAINER, "container-dns"
)
