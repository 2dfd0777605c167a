"""A node joins the network of pods."""

from __future__ import annotations

from collections.abc import Mapping

from dunnage.contracts.host import Clock
from dunnage.substrates.kubernetes.network import (
    CONFIGURATION,
    FLANNEL,
    SUBNET_FILE,
    Flannel,
    Subnet,
    routes_script,
    told_by_flannel,
)
from dunnage.substrates.kubernetes.node import Node
from dunnage.substrates.kubernetes.place import SECRET
from dunnage.substrates.kubernetes.running import Running


def by_routes(
    there: Running, pods: str, ranges: Mapping[str, str], addresses: Mapping[str, str]
) -> Subnet:
    """Lead to the pods of other nodes.

    `pods` is the range of all pods; `ranges` maps nodes to those of theirs, `addresses` to the
    nodes' own.
    """
    own = ranges[there.host.name]
    others = {range_: addresses[name] for name, range_ in ranges.items() if range_ != own}
    there.run("sh", "-c", routes_script(pods, own, others))
    return Subnet(own)


def by_flannel(there: Running, flannel: Flannel, kubeconfig: bytes, clock: Clock) -> Subnet:
    """Start flanneld, and wait for the subnet that it gives this node."""
    path, host = there.place.path, there.host
    host.put(path("flannel.json"), flannel.settings())
    host.put(path(f"{FLANNEL}.kubeconfig"), kubeconfig, SECRET)
    there.start(flannel.component())
    found: list[Subnet] = []

    def late() -> str | None:
        try:
            found.append(told_by_flannel(host.get(SUBNET_FILE).decode()))
        except (FileNotFoundError, KeyError, ValueError) as error:
            return f"`{SUBNET_FILE}` tells no subnet: {error}"
        return None

    there.until("flannel gives no subnet", late, clock)
    return found[-1]


def write_configuration(there: Running, node: Node, content: bytes) -> None:
    """Tell containerd of the network: the node becomes ready then."""
    there.host.put(f"{node.cni}/{CONFIGURATION}", content)
