"""What joins the pods of a node, as the plugin that does it writes to the node. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from lightkube.resources.core_v1 import Node

from dunnage.model.unknown import UNKNOWN

_NOTHING = "none"
_FLANNEL = "flannel.alpha.coreos.com/backend-type"
_FLANNELS = {
    "vxlan": ("vxlan", _NOTHING),
    "ipip": ("ipip", _NOTHING),
    "wireguard": ("wireguard",),
    "host-gw": (_NOTHING,),
}
"""Backend of flannel's → in what it may wrap packets. With `DirectRouting`, of which it writes
nothing, it wraps none between nodes of one subnet."""
_CALICO = "projectcalico.org/IPv4Address"
_CALICOS = {
    "projectcalico.org/IPv4VXLANTunnelAddr": "vxlan",
    "projectcalico.org/IPv4IPIPTunnelAddr": "ipip",
    "projectcalico.org/IPv4WireguardInterfaceAddr": "wireguard",
}
"""Annotation → in what Calico may wrap packets. It is there with the mode `CrossSubnet` too, which
wraps none between nodes of one subnet, and where another node has no key for WireGuard."""


@dataclass(frozen=True)
class NodeNetwork:
    """What a plugin told of the way to pods of other nodes."""

    plugin: str
    way: str
    """In the plugin's own words; empty where it wraps nothing and has no word for that."""
    wraps: tuple[str, ...]
    """The kinds of devices that may wrap packets into others, and `none` where perhaps nothing
    does; empty where that is not known of its way."""

    @property
    def name(self) -> str:
        """The plugin and its way: `flannel, vxlan`."""
        return f"{self.plugin}, {self.way or 'no encapsulation'}"

    @property
    def encapsulation(self) -> str:
        """The one of them that is in force; what may be where the plugin does not tell."""
        if len(self.wraps) == 1:
            return self.wraps[0]
        return f"{UNKNOWN}: {self.plugin}, {' or '.join(self.wraps) or self.way}"


def network_of(node: Node) -> NodeNetwork | None:
    """The network of a node's pods; None where no plugin that we know tells of it."""
    written = (node.metadata.annotations if node.metadata is not None else None) or {}
    if _FLANNEL in written:
        backend = written[_FLANNEL]
        return NodeNetwork("flannel", backend, _FLANNELS.get(backend, ()))
    tunnels = tuple(wraps for key, wraps in _CALICOS.items() if key in written)
    if tunnels or _CALICO in written:
        return NodeNetwork("Calico", " and ".join(tunnels), (*tunnels, _NOTHING))
    return None
