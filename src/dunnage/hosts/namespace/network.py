"""Addresses of a lab's hosts, and the commands that join them to its switch. Pure.

Every lab has the same addresses: none of them can reach another, or this machine.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from dunnage.hosts.namespace.cores import mask
from dunnage.model.study import TestbedSpec

BRIDGE = "lab0"
INTERFACE = "eth0"
PREFIX = 24
_SYSFS = "/run/dunnage/sys"


@dataclass(frozen=True)
class Plug:
    """One host's end of the cable to the switch: its number in the lab, from 1."""

    number: int
    generation: int = 0
    """Counts restorations: the kernel takes its time to remove a lost host's port."""

    @property
    def address(self) -> str:
        """IPv4 address."""
        return f"10.77.0.{self.number}"

    @property
    def floating(self) -> str:
        """The address that the switch translates to it, where it does."""
        return f"10.77.1.{self.number}"

    @property
    def hardware(self) -> str:
        """Ethernet address: a restored host keeps it, so that others need not ask anew."""
        return f"02:00:0a:4d:00:{self.number:02x}"

    @property
    def port(self) -> str:
        """Name of the switch's end."""
        return f"p{self.number}-{self.generation}"


def plugged(spec: TestbedSpec) -> Iterator[tuple[str, str, Plug]]:
    """Every host of a lab: its name, its group and its plug."""
    number = 0
    for group, count in spec.hosts.items():
        for at in range(1, count + 1):
            number += 1
            yield f"{group}-{at}", group, Plug(number)


def hosts_file(names: Mapping[str, Plug]) -> str:
    """What every host sees as `/etc/hosts`."""
    lines = ["127.0.0.1 localhost", "::1 localhost ip6-localhost ip6-loopback"]
    lines += [f"{plug.address} {name}" for name, plug in names.items()]
    return "\n".join(lines) + "\n"


def switch_batch(plugs: Mapping[int, Plug], *, bridge: bool) -> str:
    """Input of `ip -batch` in the switch's network: a port for each process id's network."""
    lines = []
    if bridge:
        lines.append(f"link add {BRIDGE} type bridge stp_state 0 forward_delay 0 mcast_snooping 0")
        lines.append(f"link set {BRIDGE} up")
    for pid, plug in plugs.items():
        lines.append(
            f"link add {plug.port} type veth peer name {INTERFACE} "
            f"address {plug.hardware} netns {pid}"
        )
        lines.append(f"link set {plug.port} master {BRIDGE} up")
    return "\n".join(lines) + "\n"


def join_script(plug: Plug, steer_to: Sequence[int] | None, routes: Sequence[str] = ()) -> str:
    """Shell script that a host runs to come up, and to say what is in force as a line of JSON.

    `steer_to` are the processors that shall take in its packets (receive packet steering); None
    leaves that to the kernel: the sender's. `routes` are lines for `ip` that say where else to send
    packets. The setting is only to be reached through a sysfs
    mounted inside the network namespace; over `/sys` it would hide the control groups.
    """
    lines = "\n".join(routes)
    steer = "" if steer_to is None else f'echo {mask(steer_to)} > "$queue/rps_cpus"'
    return f"""
set -e
ip -batch - <<END
link set lo up
address add {plug.address}/{PREFIX} dev {INTERFACE}
link set {INTERFACE} up
{lines}
END
mkdir -p {_SYSFS}
mount -t sysfs sysfs {_SYSFS}
for queue in {_SYSFS}/class/net/{INTERFACE}/queues/rx-*; do
    {steer or ":"}
    rps="$rps$(cat "$queue/rps_cpus") "
done
mtu=$(cat {_SYSFS}/class/net/{INTERFACE}/mtu)
umount {_SYSFS}
rmdir {_SYSFS}
echo "{{\\"mtu\\": $mtu, \\"rps\\": \\"${{rps% }}\\"}}"
"""


@dataclass(frozen=True)
class InForce:
    """What a host's interface really has."""

    mtu: int
    rps: str
    """Mask of processors that take in packets, one for each receive queue."""


def in_force(output: str) -> InForce:
    """Read what `join_script` said."""
    return InForce(**json.loads(output.strip().splitlines()[-1]))
