"""A lab with a Kubernetes, and deployments of Redis and Cassandra on it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from typing import Any

from lightkube.resources.core_v1 import Namespace, PersistentVolume
from living import STAY, client_of, deployed, living

from dunnage import catalog
from dunnage.contracts.database import Database
from dunnage.contracts.host import Host
from dunnage.contracts.substrate import Substrate
from dunnage.hosts.namespace.testbed import NamespaceTestbed, open_namespace
from dunnage.kubernetes_api import connect
from dunnage.model.choices import Cores
from dunnage.model.deployment import Deployment
from dunnage.model.layout import Target
from dunnage.model.study import TestbedSpec
from dunnage.platforms.kubernetes.platform import Kubernetes
from dunnage.software.engine import engine_path
from dunnage.software.trees import DebianSoftware
from dunnage.substrates.kubernetes.choices import Choices, Network
from dunnage.substrates.kubernetes.own import OwnKubernetes, open_kubernetes

TREES = DebianSoftware()


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
        return client_of(self.testbed)


@contextmanager
def opened(
    choices: Choices | None = None, members: int = 3, *, steer: bool = True
) -> Iterator[Lab]:
    """A lab of its own; where it does not `steer`, senders take in packets for receivers."""
    hosts = {"db": members, "client": 1, "control": 1}
    spec = TestbedSpec(kind="namespace", hosts=hosts, cores=Cores.SHARED, steer=steer)
    chosen = choices or Choices(Network.FLANNEL_VXLAN)
    with (
        open_namespace(spec, name="kubernetes", engine=engine_path(), keep=False) as testbed,
        open_kubernetes(testbed, TREES.kubernetes(print), testbed.hosts, chosen) as kubernetes,
    ):
        yield Lab(testbed, kubernetes)


def deployed_as(
    endpoint: str = "host-port", *words: Any, network: str = "flannel-vxlan", **changes: Any
) -> Deployment:
    """A deployment on it, whose further words are those of `deployed`."""
    return deployed("kubernetes", network, endpoint, *words, **changes)


@contextmanager
def formed(
    lab: Lab,
    deployment: Deployment,
    database: Database | None = None,
    substrate: Substrate | None = None,
) -> Iterator[tuple[Kubernetes, Target, frozenset[str]]]:
    """A deployment that lives on it, as `living` has it, of which nothing may be left."""
    catalog.translate(lab.testbed, [deployment])
    made = Kubernetes(deployment, lab.members, substrate or lab.kubernetes, TREES, STAY)
    with living(made, deployment, lab.testbed, database) as formed:
        yield formed
    assert traces(lab) == []


def traces(lab: Lab) -> Sequence[str]:
    """What of stays is left in the cluster."""
    with closing(connect(lab.kubernetes.api)) as client:
        named = [each.metadata for each in client.list(Namespace)]
        named += [each.metadata for each in client.list(PersistentVolume)]
    names = [str(each.name) for each in named if each is not None]
    return [name for name in names if name.startswith("dunnage-")]
