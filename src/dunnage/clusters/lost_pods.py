"""Pods of ours that nobody can end, because their nodes are not ready or gone."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from lightkube import ApiError, Client
from lightkube.resources.core_v1 import Node, Pod

from dunnage.clusters.nodes import is_ready
from dunnage.clusters.nodes import name as name_of
from dunnage.clusters.removal import delete
from dunnage.contracts.cluster import MANAGED
from dunnage.deadline import Deadline
from dunnage.kubernetes_api import FORBIDDEN, status_of

_LOOKS = 5.0
"""Seconds between two looks: of a node that lost power, a cluster tells that after most of a
minute."""


class LostPods:
    """Those in namespaces that were deleted, which stay there as long as such a pod does."""

    def __init__(self, client: Client, namespaces: Collection[str]) -> None:
        self._client = client
        self._namespaces = frozenset(namespaces)
        self._rest = Deadline.after(0.0)

    def forget(self) -> None:
        """Have the cluster forget them; nothing soon after the last look. Raises `Refused`."""
        if not self._rest.passed:
            return
        self._rest = Deadline.after(_LOOKS)
        there = list(self._there())
        if not there:
            return
        ready = self._ready({node for _, _, node in there})
        for pod, namespace, node in there:
            if node not in ready:
                delete(self._client, Pod, pod, namespace, grace=0)

    def _there(self) -> Iterator[tuple[str, str, str]]:
        """Name, namespace and node of each pod of ours there that has a node."""
        for pod in self._client.list(Pod, namespace="*", labels={**MANAGED}):
            known, node = pod.metadata, str((pod.spec and pod.spec.nodeName) or "")
            if known is not None and known.namespace in self._namespaces and node:
                yield str(known.name), str(known.namespace), node

    def _ready(self, nodes: Collection[str]) -> Collection[str]:
        """Those of the cluster that are ready; all of `nodes` where they may not be listed."""
        try:
            return {name_of(node) for node in self._client.list(Node) if is_ready(node)}
        except ApiError as refusal:
            if status_of(refusal) != FORBIDDEN:
                raise
            return nodes
