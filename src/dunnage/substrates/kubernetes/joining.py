"""A node joins the network of pods."""

from __future__ import annotations

from collections.abc import Mapping

from dunnage.contracts.host import Clock
from dunnage.model.proxy import ProxyMode
from dunnage.model.value import Scalar
from dunnage.substrates.kubernetes.network import (
    CONFIGURATION,
    FLANNEL,
    SUBNET_FILE,
    Flannel,
    Subnet,
    routes_script,
    told_by_flannel,
    told_by_links,
)
from dunnage.substrates.kubernetes.node import Node
from dunnage.substrates.kubernetes.place import SECRET
from dunnage.substrates.kubernetes.running import Running

_MODES = (
    "test -e /sys/class/net/kube-ipvs0 && echo ipvs && exit; "
    "nft list table ip kube-proxy > /dev/null 2>&1 && echo nftables; "
    "iptables-save -t nat 2> /dev/null | grep -q KUBE-SERVICES && echo iptables; true"
)
"""Says which rules of kube-proxy's are there. By IPVS it has a device, and some of iptables too."""


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


def network_facts(there: Running) -> Mapping[str, Scalar]:
    """What is in force on a node, read back; a bridge is there once a pod is."""
    bridge, tunnel = told_by_links(there.run("ip", "-json", "link"))
    modes = there.run("sh", "-c", _MODES).split()
    known = [mode for mode in ProxyMode if mode in modes]
    return {
        "proxy_mode": ", ".join(known) or "unknown",
        "bridge_mtu": bridge,
        "tunnel_mtu": tunnel,
    }
