"""A lab with a Kubernetes, and deployments of Redis and Cassandra on it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

from lightkube.resources.core_v1 import Namespace, PersistentVolume

from dunnage import catalog, contracts
from dunnage.contracts import Host
from dunnage.hosts.namespace.testbed import NamespaceTestbed, open_namespace
from dunnage.kubernetes_api import connect
from dunnage.model.choices import ClientPlace, Cores, Peers, Storage
from dunnage.model.deployment import Deployment
from dunnage.model.layout import Target
from dunnage.model.study import DatabaseSpec, Limits, TestbedSpec
from dunnage.platforms.kubernetes.platform import Kubernetes
from dunnage.runner.endpoint import allowed, resolved
from dunnage.runner.formation import form
from dunnage.software.engine import engine_path
from dunnage.software.trees import DebianSoftware
from dunnage.substrates.kubernetes.choices import Choices, Network
from dunnage.substrates.kubernetes.own import OwnKubernetes, open_kubernetes

TREES = DebianSoftware()
REPLICAS = DatabaseSpec(kind="redis", version="7.0", topology="replicas", members=2)


@dataclass(frozen=True)
class Lab:
    """Hosts, and the Kubernetes of them."""

    testbed: NamespaceTestbed
    kubernetes: OwnKubernetes

    @property
    def members(self) -> tuple[Host, ...]:
        return self.testbed.group("db")

    @property
    def client(self) -> Host:
        return self.testbed.group("client")[0]


@contextmanager
def opened(choices: Choices | None = None, members: int = 3) -> Iterator[Lab]:
    """A lab of its own."""
    hosts = {"db": members, "client": 1, "control": 1}
    spec = TestbedSpec(kind="namespace", hosts=hosts, cores=Cores.SHARED)
    chosen = choices or Choices(Network.FLANNEL_VXLAN)
    with (
        open_namespace(spec, name="kubernetes", engine=engine_path(), keep=False) as testbed,
        open_kubernetes(testbed, TREES.kubernetes(print), testbed.hosts, chosen) as kubernetes,
    ):
        yield Lab(testbed, kubernetes)


def deployed_as(
    endpoint: str = "host-port",
    client: ClientPlace = ClientPlace.HOST,
    database: DatabaseSpec = REPLICAS,
    **changes: Any,
) -> Deployment:
    """A deployment on it."""
    known: dict[str, Any] = {
        "name": "tested",
        "title": "Tested",
        "platform": "kubernetes",
        "network": "flannel-vxlan",
        "endpoint": endpoint,
        "storage": Storage.BIND,
        "peers": Peers.ENDPOINT,
        "client": client,
        "hosts": "db",
        "limits": Limits(),
        "slowdown": 0.0,
        "database": database,
    }
    return Deployment(**(known | changes))


@contextmanager
def formed(
    lab: Lab,
    deployment: Deployment,
    database: contracts.Database | None = None,
    substrate: contracts.Substrate | None = None,
) -> Iterator[tuple[Kubernetes, Target, frozenset[str]]]:
    """A living deployment, what a generator needs of it, and where its connections may go."""
    catalog.translate(lab.testbed, [deployment])
    made = Kubernetes(deployment, lab.members, substrate or lab.kubernetes, TREES, "b1-live")
    spec = deployment.database
    what = database or catalog.DATABASES[spec.kind]()
    try:
        reservation = made.reserve(what.layout(spec))
        walk = partial(what.stages, spec)
        living = form(made, walk, reservation, lab.testbed.clock, 120.0).reservation
        target = what.target(spec, living)
        yield made, target, allowed(target, resolved(target, [made.client(lab.client)]))
    finally:
        made.down()
    assert traces(lab) == []


def traces(lab: Lab) -> Sequence[str]:
    """What of stays is left in the cluster."""
    with closing(connect(lab.kubernetes.api)) as client:
        named = [each.metadata for each in client.list(Namespace)]
        named += [each.metadata for each in client.list(PersistentVolume)]
    names = [str(each.name) for each in named if each is not None]
    return [name for name in names if name.startswith("dunnage-")]
