"""A Kubernetes that is already there, whose nodes a testbed's hosts are.

It is never made, stopped or held still; a study's own objects are the platform's to remove.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager

from lightkube.resources.core_v1 import Node

from dunnage.clusters.context import Context
from dunnage.clusters.node_network import network_of
from dunnage.clusters.nodes import label, name
from dunnage.contracts.host import Host
from dunnage.contracts.kubernetes import HOSTNAME, ApiServer, ContainerRuntime, OnKubernetes
from dunnage.contracts.testbed import Testbed
from dunnage.errors import UnavailableError
from dunnage.kubernetes_api import connect, session, version
from dunnage.model.agreement import agreed
from dunnage.model.unknown import UNKNOWN
from dunnage.model.value import Scalar


@contextmanager
def open_kubernetes_of(testbed: Testbed, hosts: Sequence[Host]) -> Iterator[ExistingKubernetes]:
    """Use the cluster whose nodes the hosts of a testbed are.

    Raises UnavailableError where they are none, and where the cluster cannot be asked.
    """
    if not isinstance(testbed, OnKubernetes):
        raise UnavailableError(
            "the hosts of this testbed are nodes of no Kubernetes",
            where="kubernetes",
            hint="dunnage schema study  # the key `substrate`",
        )
    api = testbed.api
    context = Context(str(api.context), api.kubeconfig)
    with context.spoken():
        with closing(connect(api)) as client:
            known = {name(node): node for node in client.list(Node)}
        with session(api) as asked:
            told = version(asked)
    nodes = {}
    for host in hosts:
        named = testbed.node(host.name)
        if named not in known:
            raise UnavailableError(
                f"its node `{named}` is gone", where=host.name, hint=context.asking("get nodes")
            )
        nodes[host.name] = known[named]
    yield ExistingKubernetes(api, nodes, told, testbed.labels)


class ExistingKubernetes:
    """Someone else's cluster."""

    def __init__(
        self,
        api: ApiServer,
        nodes: Mapping[str, Node],
        version: str,
        labels: Mapping[str, str],
    ) -> None:
        """`nodes` are those of its hosts; `version` is the API server's; `labels` are for every
        namespace that is made there."""
        self.api = api
        self.labels = labels
        self._nodes = nodes
        self._version = version

    def asking(self, words: str) -> str:
        return Context(str(self.api.context), self.api.kubeconfig).asking(words)

    def node(self, host: str) -> str:
        return name(self._nodes[host])

    def runtime(self, host: str) -> ContainerRuntime | None:
        self.node(host)
        return None

    def hostname(self, host: str) -> str:
        node = self._nodes[host]
        if told := label(node, HOSTNAME):
            return told
        raise UnavailableError(
            f"its node `{name(node)}` has no label `{HOSTNAME}`, by which volumes are bound to it",
            where=host,
            hint=self.asking(f"label node {name(node)} {HOSTNAME}={name(node)}"),
        )

    def network(self, host: str) -> Mapping[str, str]:
        network = network_of(self._nodes[host])
        if network is None:
            untold = f"{UNKNOWN}: its node tells of no plugin"
            return {"plugin": untold, "encapsulation": untold}
        return {"plugin": network.name, "encapsulation": network.encapsulation}

    def units(self, host: str) -> tuple[str, ...]:  # noqa: ARG002  # none of ours is anywhere
        return ()

    def wake(self) -> None:
        """It is awake."""

    def freeze(self, hosts: Collection[str] | None = None) -> None:
        """It is not ours to hold still; `facts` says so."""

    def mend(self, host: str) -> None:
        """Whoever owns a node brings it back."""

    def facts(self) -> Mapping[str, Scalar]:
        """What its API server and the hosts' nodes tell of themselves; other nodes come and go."""
        return {
            "context": self.api.context,
            "version": self._version,
            **agreed({host: _told(node) for host, node in self._nodes.items()}),
            "ours": False,
            "frozen_when_unused": False,
        }


def _told(node: Node) -> Mapping[str, Scalar]:
    info = node.status.nodeInfo if node.status is not None else None
    if info is None:
        return {}
    return {
        "kubelet_version": info.kubeletVersion,
        "container_runtime": info.containerRuntimeVersion,
        "kernel": info.kernelVersion,
    }
