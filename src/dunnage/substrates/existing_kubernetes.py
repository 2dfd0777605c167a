"""A Kubernetes that is already there, reached by a context of the user's kubeconfig.

It is never made, stopped or held still; a study's own objects are the platform's to remove.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

from lightkube import Client
from lightkube.models.authorization_v1 import ResourceAttributes, SelfSubjectAccessReviewSpec
from lightkube.resources.authorization_v1 import SelfSubjectAccessReview
from lightkube.resources.core_v1 import Node

from dunnage.contracts.host import Host
from dunnage.contracts.kubernetes import ApiServer, ContainerRuntime
from dunnage.errors import UnavailableError
from dunnage.kubernetes_api import Refused, connect, explanation
from dunnage.model.value import Scalar

VARIABLE = "KUBECONFIG"


@dataclass(frozen=True)
class Right:
    """What must be allowed, as `kubectl auth can-i VERB RESOURCE` asks."""

    verb: str
    resource: str
    subresource: str = ""
    group: str = ""

    def __str__(self) -> str:
        below = f"/{self.subresource}" if self.subresource else ""
        group = f".{self.group}" if self.group else ""
        return f"{self.verb} {self.resource}{group}{below}"


RIGHTS = (
    Right("list", "nodes"),
    Right("create", "namespaces"),
    Right("get", "namespaces"),
    Right("delete", "namespaces"),
    Right("create", "statefulsets", group="apps"),
    Right("delete", "statefulsets", group="apps"),
    Right("create", "services"),
    Right("get", "pods"),
    Right("delete", "pods"),
    Right("get", "pods", "log"),
    Right("create", "pods", "exec"),
    Right("list", "events"),
    Right("create", "persistentvolumeclaims"),
    Right("create", "persistentvolumes"),
    Right("list", "persistentvolumes"),
    Right("delete", "persistentvolumes"),
)
"""All that a stay does in a cluster."""


@contextmanager
def open_existing_kubernetes(
    contexts: Mapping[str, str], hosts: Sequence[Host]
) -> Iterator[ExistingKubernetes]:
    """Find the hosts among the nodes of a cluster; `contexts` names it for each of them.

    `KUBECONFIG` is honoured. Raises UnavailableError when hosts name different contexts, the
    cluster does not answer, a right is missing, or a host is none of its nodes.
    """
    context = _only(contexts, hosts)
    api = ApiServer(
        Path(os.environ.get(VARIABLE) or Path.home() / ".kube" / "config"), None, context
    )
    try:
        with closing(connect(api)) as client:
            missing = [right for right in RIGHTS if not _allowed(client, right)]
            if missing:
                raise UnavailableError(
                    f"the user of context `{context}` may not {', '.join(map(str, missing))}",
                    where="kubernetes",
                    hint=_asking(context, "auth can-i --list"),
                )
            nodes = list(client.list(Node))
    except Refused as refusal:
        raise UnavailableError(
            f"the cluster of context `{context}` does not answer: {explanation(refusal)}",
            where="kubernetes",
            hint=_asking(context, "get nodes"),
        ) from refusal
    yield ExistingKubernetes(api, {host.name: _node(host, nodes, context) for host in hosts}, nodes)


class ExistingKubernetes:
    """Someone else's cluster."""

    def __init__(self, api: ApiServer, names: Mapping[str, str], nodes: Sequence[Node]) -> None:
        self.api = api
        self._names = names
        self._nodes = nodes

    def node(self, host: str) -> str:
        return self._names[host]

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
        """What its nodes tell of themselves."""
        told = [each.status.nodeInfo for each in self._nodes if each.status is not None]
        infos = [info for info in told if info is not None]
        return {
            "context": self.api.context,
            "nodes": len(self._nodes),
            "kubelets": _agreed(info.kubeletVersion for info in infos),
            "runtimes": _agreed(info.containerRuntimeVersion for info in infos),
            "kernels": _agreed(info.kernelVersion for info in infos),
            "ours": False,
            "frozen_when_unused": False,
        }


def _agreed(values: Iterable[str]) -> str:
    return ", ".join(sorted(set(values)))


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


def _allowed(client: Client, right: Right) -> bool:
    asked = ResourceAttributes(
        verb=right.verb,
        resource=right.resource,
        subresource=right.subresource,
        group=right.group,
    )
    review = SelfSubjectAccessReview(spec=SelfSubjectAccessReviewSpec(resourceAttributes=asked))
    answered = client.create(review)
    return answered.status is not None and bool(answered.status.allowed)


def _node(host: Host, nodes: Iterable[Node], context: str) -> str:
    for node in nodes:
        addresses = (node.status and node.status.addresses) or ()
        if any(each.address == host.address for each in addresses):
            return str((node.metadata and node.metadata.name) or "")
    raise UnavailableError(
        f"no node of context `{context}` has this host's address {host.address}",
        where=host.name,
        hint=_asking(context, "get nodes -o wide"),
    )


def _asking(context: str, words: str) -> str:
    return f"kubectl {shlex.join(['--context', context])} {words}"
