"""The network of pods: a bridge on each host, and routes or a tunnel between the hosts. Pure.

With flannel the same bridge stands below it; flannel's own plugin would only write what is written
here.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from dunnage.model.proxy import ProxyMode
from dunnage.substrates.kubernetes.choices import Network
from dunnage.substrates.kubernetes.place import Component, Place

BRIDGE = "cni0"
TUNNEL = "flannel.1"
FLANNEL = "flanneld"
FLANNEL_USER = "system:flannel"
SUBNET_FILE = "/run/flannel/subnet.env"
"""What flanneld tells of its subnet, on the host's own `/run`."""
CONFIGURATION = "10-dunnage.conflist"
_BACKENDS = {Network.FLANNEL_VXLAN: "vxlan", Network.FLANNEL_HOST_GW: "host-gw"}


@dataclass(frozen=True)
class Subnet:
    """What pods on one host get their addresses from."""

    range: str
    mtu: int | None = None
    """Of their interfaces; None for that of the bridge's."""


def configuration(subnet: Subnet, state: str) -> bytes:
    """What containerd is told of the network; `state` is where addresses in use are kept."""
    bridge: dict[str, object] = {
        "type": "bridge",
        "bridge": BRIDGE,
        "isGateway": True,
        "isDefaultGateway": True,
        "hairpinMode": True,
        "ipam": {"type": "host-local", "ranges": [[{"subnet": subnet.range}]], "dataDir": state},
    }
    if subnet.mtu is not None:
        bridge["mtu"] = subnet.mtu
    ports = {"type": "portmap", "capabilities": {"portMappings": True}}
    config = {"cniVersion": "1.0.0", "name": "dunnage", "plugins": [bridge, ports]}
    return (json.dumps(config, indent=1) + "\n").encode()


def begin_script(address: str, services: str) -> str:
    """Shell script that makes a host carry packets for others, and show bridges to rules.

    Packets of its own to services need a route before kube-proxy's rules lead them elsewhere, and a
    lab's hosts have no default route. `address` is the host's.
    """
    return f"""
set -e
echo 1 > /proc/sys/net/ipv4/ip_forward
for each in iptables ip6tables; do
    switched=/proc/sys/net/bridge/bridge-nf-call-$each
    if [ -e $switched ]; then echo 1 > $switched; fi
done
set -- $(ip -oneline -4 address show to {address}/32)
ip route replace {services} dev "$2" src {address}
"""


def routes_script(pods: str, own: str, others: Mapping[str, str]) -> str:
    """Shell script that leads to the pods of other hosts.

    `pods` is the range of all pods, `own` that of this host's, `others` maps the ranges of the
    other hosts to their addresses. By `proto` the kernel tells these routes from flannel's, which
    name none. What leaves that range has the host's address as its source, as flannel does it:
    nobody outside knows the way to a pod.
    """
    routes = "\n".join(
        f"route replace {range_} via {via} proto static" for range_, via in others.items()
    )
    return f"""
set -e
ip -batch - <<END
{routes}
END
once() {{ iptables -w -t "$1" -C "$2" $3 2>/dev/null || iptables -w -t "$1" -A "$2" $3; }}
once nat POSTROUTING "-s {own} ! -d {pods} -j MASQUERADE"
once filter FORWARD "-s {pods} -j ACCEPT"
once filter FORWARD "-d {pods} -j ACCEPT"
"""


@dataclass(frozen=True)
class Flannel:
    """flanneld on one host."""

    node: str
    address: str
    pods: str
    binaries: Path
    place: Place
    network: Network
    proxy: ProxyMode

    def settings(self) -> bytes:
        """What it is told of the network of all pods."""
        settings = {
            "Network": self.pods,
            "EnableNFTables": self.proxy is ProxyMode.NFTABLES,
            "Backend": {"Type": _BACKENDS[self.network]},
        }
        return (json.dumps(settings, indent=1) + "\n").encode()

    def component(self) -> Component:
        """Its program."""
        argv = (
            str(self.binaries / FLANNEL),
            "--kube-subnet-mgr",
            f"--kubeconfig-file={self.place.path(f'{FLANNEL}.kubeconfig')}",
            f"--net-config-path={self.place.path('flannel.json')}",
            f"--iface={self.address}",
            "--ip-masq",
            f"--subnet-file={SUBNET_FILE}",
        )
        return Component(FLANNEL, argv, {"NODE_NAME": self.node})


def with_flannel(network: Network) -> bool:
    """Whether flanneld keeps the routes or the tunnel."""
    return network in _BACKENDS


def told_by_flannel(text: str) -> Subnet:
    """Read `subnet.env`; raises KeyError or ValueError while it is not complete."""
    values = dict(line.split("=", 1) for line in text.splitlines() if line.strip())
    gateway, _, prefix = values["FLANNEL_SUBNET"].partition("/")
    first, *_ = gateway.rsplit(".", 1)
    return Subnet(f"{first}.0/{prefix}", int(values["FLANNEL_MTU"]))
