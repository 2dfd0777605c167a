"""A Kubernetes that is already there, reached by a context of the user's kubeconfig.

It is never made, stopped or held still; a study's own objects are the platform's to remove.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager

from lightkube.resources.core_v1 import Node

from dunnage.clusters.context import Context
from dunnage.clusters.nodes import name
from dunnage.clusters.rights import RIGHTS, missing
from dunnage.contracts.host import Host
from dunnage.contracts.kubernetes import ApiServer, ContainerRuntime, OnKubernetes
from dunnage.contracts.testbed import Testbed
from dunnage.errors import UnavailableError
from dunnage.kubernetes_api import connect, session
from dunnage.model.agreement import agreed
from dunnage.model.value import Scalar
from dunnage.substrates.nodes_of_hosts import nodes_of

_COLUMNS = (
    "custom-columns=NAME:.metadata.name,MACHINE:.status.nodeInfo.machineID,"
    "BOOT:.status.nodeInfo.bootID"
)
"""Of nodes, by what they are told from each other."""


@contextmanager
def open_existing_kubernetes(
    contexts: Mapping[str, str], hosts: Sequence[Host]
) -> Iterator[ExistingKubernetes]:
    """Find the hosts among the nodes of a cluster; `contexts` names it for each of them.

    `KUBECONFIG` is honoured, where it names one file. Raises UnavailableError when hosts name
    different contexts, the kubeconfig cannot be used, the cluster refuses or does not answer, a
    right is missing, or a host is none of its nodes, or one that is not ready.
    """
    context = Context(_only(contexts, hosts))
    api = context.api
    with context.spoken():
        with closing(connect(api)) as client:
            if lacks := missing(client, RIGHTS):
                raise UnavailableError(
                    f"the user of context `{context.name}` may not {', '.join(map(str, lacks))}",
                    where="kubernetes",
                    hint=context.asking("auth can-i --list"),
                )
            nodes = list(client.list(Node))
        with session(api) as asked:
            version = asked.get("/version").raise_for_status().json()
    yield ExistingKubernetes(
        api,
        nodes_of(hosts, nodes, context.asking(f"get nodes -o {_COLUMNS}")),
        str(version.get("gitVersion", "")),
    )


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
            version = asked.get("/version").raise_for_status().json()
    nodes = {}
    for host in hosts:
        named = testbed.node(host.name)
        if named not in known:
            raise UnavailableError(
                f"its node `{named}` is gone", where=host.name, hint=context.asking("get nodes")
            )
        nodes[host.name] = known[named]
    yield ExistingKubernetes(api, nodes, str(version.get("gitVersion", "")), testbed.labels)


class ExistingKubernetes:
    """Someone else's cluster."""

    def __init__(
        self,
        api: ApiServer,
        nodes: Mapping[str, Node],
        version: str,
        labels: Mapping[str, str] | None = None,
    ) -> None:
        """`nodes` are those of its hosts; `version` is the API server's; `labels` are for every
        namespace that is made there."""
        self.api = api
        self.labels: Mapping[str, str] = labels or {}
        self._nodes = nodes
        self._version = version

    def asking(self, words: str) -> str:
        return Context(str(self.api.context), self.api.kubeconfig).asking(words)

    def node(self, host: str) -> str:
        return name(self._nodes[host])

    def runtime(self, host: str) -> ContainerRuntime | None:
        self.node(host)
        return None

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


def _only(contexts: Mapping[str, str], hosts: Sequence[Host]) -> str:
    for host in hosts:
        if host.name not in contexts:
            raise UnavailableError(
                "no context is named for this host under `substrate: kubernetes: contexts:`",
                where=host.name,
                hint="kubectl config get-contexts",
            )
    named = sorted({contexts[host.name] for host in hosts})
    if len(named) > 1:
        raise UnavailableError(
            f"all hosts must be nodes of one cluster, not of {', '.join(named)}",
            where="kubernetes",
            hint="kubectl config get-contexts",
        )
    return named[0]
