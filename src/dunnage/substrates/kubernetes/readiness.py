"""What the API server's answers say of nodes. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime

from lightkube.resources.coordination_v1 import Lease
from lightkube.resources.core_v1 import Node

from dunnage.clusters.nodes import name, why_unready
from dunnage.model.value import Scalar
from dunnage.substrates.kubernetes.node import LEASE_SECONDS

_PERIOD = LEASE_SECONDS / 4
_SLACK = 1.0
"""Seconds by which a kubelet under load may be late."""


def pod_ranges(nodes: Iterable[Node]) -> dict[str, str]:
    """Node → the range of its pods' addresses, of those that have been given one."""
    return {
        name(node): node.spec.podCIDR
        for node in nodes
        if node.spec is not None and node.spec.podCIDR
    }


def not_ready(
    nodes: Iterable[Node], leases: Iterable[Lease], wanted: Iterable[str], now: float
) -> Mapping[str, str]:
    """Host → what keeps its node from being used, of those `wanted`.

    A node that was held still, or is lost, is believed to be ready for a while: so its kubelet must
    have told of itself within its period. `now` is the nodes' Unix time.
    """
    known = {name(node): node for node in nodes}
    told = {_lease_name(lease): _renewed(lease) for lease in leases}
    found = {host: _why(known.get(host), told.get(host), now) for host in wanted}
    return {host: why for host, why in found.items() if why}


def node_facts(nodes: Iterable[Node]) -> dict[str, Scalar]:
    """How many nodes there are, and what runs on them, as they told."""
    told = [node.status.nodeInfo for node in nodes if node.status is not None]
    infos = [info for info in told if info is not None]
    return {
        "nodes": len(told),
        "kubelet_version": ", ".join(sorted({info.kubeletVersion for info in infos})),
        "container_runtime": ", ".join(sorted({info.containerRuntimeVersion for info in infos})),
    }


def _why(node: Node | None, renewed: float | None, now: float) -> str:
    if node is None:
        return "not known to the API server"
    if renewed is None or now - renewed > _PERIOD + _SLACK:
        return "not heard of by the API server"
    return why_unready(node)


def _lease_name(lease: Lease) -> str:
    return str(lease.metadata.name) if lease.metadata is not None else ""


def _renewed(lease: Lease) -> float | None:
    renewed = lease.spec.renewTime if lease.spec is not None else None
    if renewed is None:
        return None
    aware = renewed if renewed.tzinfo is not None else renewed.replace(tzinfo=UTC)
    return datetime.timestamp(aware)
