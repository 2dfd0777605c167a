"""What can be chosen of a Kubernetes of our own."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

INOTIFY = 10
"""Instances of inotify that its programs need on a host."""


class Network(StrEnum):
    """How pods on different hosts reach each other."""

    BRIDGE = "bridge"
    """A bridge on each host, and routes between the hosts."""
    FLANNEL_VXLAN = "flannel-vxlan"
    """The same bridges, and flannel's VXLAN tunnel between the hosts."""
    FLANNEL_HOST_GW = "flannel-host-gw"
    """The same bridges, and routes that flannel keeps."""


class ProxyMode(StrEnum):
    """With what kube-proxy leads addresses of services to pods."""

    IPTABLES = "iptables"
    NFTABLES = "nftables"


@dataclass(frozen=True)
class Choices:
    """One set of choices."""

    network: Network = Network.BRIDGE
    proxy: ProxyMode = ProxyMode.IPTABLES
