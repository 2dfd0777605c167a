"""What joins the pods of a node, as the plugin that does it writes to the node. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from lightkube.resources.core_v1 import Node

_FLANNEL = "flannel.alpha.coreos.com/backend-type"
_CALICO = {
    "projectcalico.org/IPv4VXLANTunnelAddr": "vxlan",
    "projectcalico.org/IPv4IPIPTunnelAddr": "ipip",
    "projectcalico.org/IPv4Address": "",
}
"""Annotation → in what Calico wraps packets, the first that a node has."""
_FLANNELS = {"vxlan": "vxlan", "host-gw": "", "ipip": "ipip", "wireguard": "wireguard"}
"""Backend of flannel's → in what it wraps packets."""


@dataclass(frozen=True)
class NodeNetwork:
    """What a plugin told of the way to pods of other nodes."""

    plugin: str
    way: str
    """In the plugin's own words; empty where it wraps nothing and has no word for that."""
    wraps: str | None
    """The kind of device that wraps packets into others; empty for none, None where that is not
    known of its way."""


def network_of(node: Node) -> NodeNetwork | None:
    """The network of a node's pods; None where no plugin that we know tells of it."""
    written = (node.metadata.annotations if node.metadata is not None else None) or {}
    if _FLANNEL in written:
        backend = written[_FLANNEL]
        return NodeNetwork("flannel", backend, _FLANNELS.get(backend))
    for key, wraps in _CALICO.items():
        if key in written:
            return NodeNetwork("Calico", wraps, wraps)
    return None
