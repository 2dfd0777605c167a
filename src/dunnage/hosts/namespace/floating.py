"""Floating addresses of a lab's hosts, and how its switch translates them. Pure.

The switch does what the routers of OpenStack do. What goes to a host's floating address is sent on
to its own, and has the floating address of the host that it came from as its source; so the answer
is sent to a floating address as well. Both translations are 1:1 and keep ports.

The addresses lie in a subnet of their own, to which every host has a route by the switch. In the
hosts' subnet, hosts would ask each other for them, and the switch would have to answer for all
(proxy ARP). The source is translated for the sake of the way back: an answer to a client's own
address would go to it directly, past the switch's connection tracking, and the client would not
know who it is from. What hosts send to each other's own addresses is switched as without all this.
"""

from __future__ import annotations

from collections.abc import Iterable

from dunnage.hosts.namespace.network import BRIDGE, INTERFACE, PREFIX, Plug

_SUBNET = "10.77.1.0/24"
_ROUTER = "10.77.0.254"
"""The switch's own address: 128 hosts are the most that a study may ask for."""
_HARDWARE = "02:00:0a:4d:00:fe"
"""Without one of its own a bridge takes that of a port, and another when that port is gone."""
ROUTE = f"route replace {_SUBNET} via {_ROUTER} dev {INTERFACE}"
"""Line for `ip` on a host: floating addresses are reached by the switch."""


def translating(plugs: Iterable[Plug]) -> str:
    """Shell script that makes the switch translate; it prints what does, as `iptables v1.8.9 …`.

    Packets leave by the device that they came in by, of which senders would be told (redirects).
    What is only switched shall not pass rules, as it does where Docker has loaded `br_netfilter`.
    """
    return f"""
set -e
ip -batch - <<END
link set {BRIDGE} address {_HARDWARE}
address replace {_ROUTER}/{PREFIX} dev {BRIDGE}
END
for each in all default {BRIDGE}; do
    echo 0 > /proc/sys/net/ipv4/conf/$each/send_redirects
done
switched=/proc/sys/net/bridge/bridge-nf-call-iptables
if [ -e $switched ]; then echo 0 > $switched; fi
echo 1 > /proc/sys/net/ipv4/ip_forward
iptables-restore --table nat <<END
{_rules(plugs)}END
iptables --version
"""


def _rules(plugs: Iterable[Plug]) -> str:
    """For `iptables-restore`, which takes the place of all rules at once."""
    lines = ["*nat"]
    for plug in plugs:
        lines += [
            f"-A PREROUTING -d {plug.floating}/32 -j DNAT --to-destination {plug.address}",
            f"-A POSTROUTING -s {plug.address}/32 -o {BRIDGE} -m conntrack --ctstate DNAT "
            f"-j SNAT --to-source {plug.floating}",
        ]
    return "\n".join([*lines, "COMMIT"]) + "\n"
