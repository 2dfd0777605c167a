"""Networks that a test adds to hosts of a lab: a veth, a bridge, a tunnel. They end with those."""

from __future__ import annotations

import json
from dataclasses import dataclass

from insisted import insisted

from dunnage.contracts.host import Host

INNER = "inner"
"""A network namespace inside a host, as a container's is."""
IN_INNER = ("nsenter", f"--net=/run/netns/{INNER}")
"""Carries out a command in there."""
BRIDGE, VETH, TUNNEL = "br0", "veth0", "vxlan0"
"""Devices on hosts."""
BY_BRIDGE, BY_VETH = "10.98.0.2", "10.98.1.2"
"""Addresses of the inner network: by a bridge and a veth, and by another veth alone."""

_INNER = f"""
set -e
switched=/proc/sys/net/bridge/bridge-nf-call-iptables
if [ -e $switched ]; then echo 0 > $switched; fi
ip netns add {INNER}
ip -batch - <<END
link add {BRIDGE} type bridge stp_state 0 forward_delay 0 mcast_snooping 0
address add 10.98.0.1/24 dev {BRIDGE}
link set {BRIDGE} up
link add port0 type veth peer name eth0 netns {INNER}
link set port0 master {BRIDGE} up
link add {VETH} type veth peer name eth1 netns {INNER}
address add 10.98.1.1/24 dev {VETH}
link set {VETH} up
END
nsenter --net=/run/netns/{INNER} ip -batch - <<END
link set lo up
address add {BY_BRIDGE}/24 dev eth0
link set eth0 up
address add {BY_VETH}/24 dev eth1
link set eth1 up
END
"""
"""What only crosses a bridge passes no rules."""

_TUNNEL = """
set -e
device=$(ip -oneline -4 address show to {own}/32 | cut -d ' ' -f 2)
ip -batch - <<END
link add {tunnel} type vxlan id 7 local {own} remote {other} dstport 4789 dev $device
address add {inside}/24 dev {tunnel}
link set {tunnel} up
END
"""


@dataclass(frozen=True)
class Device:
    """A network device of a host."""

    host: Host
    name: str

    def received(self) -> int:
        """Packets that it has taken in so far."""
        words = ("ip", "-json", "-statistics", "link", "show", "dev", self.name)
        (found,) = json.loads(insisted(self.host, *words))
        return int(found["stats64"]["rx"]["packets"])


def add_inner(host: Host) -> None:
    """Add the inner network to a host, and both ways to it."""
    insisted(host, "sh", "-c", _INNER)


def add_tunnel(first: Host, second: Host) -> tuple[str, str]:
    """Join two hosts by a VXLAN; returns their addresses in it."""
    inside = "10.98.2.1", "10.98.2.2"
    for own, other, address in ((first, second, inside[0]), (second, first, inside[1])):
        words = {"own": own.address, "other": other.address, "inside": address}
        insisted(own, "sh", "-c", _TUNNEL.format(tunnel=TUNNEL, **words))
    return inside
