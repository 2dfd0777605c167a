"""Which node of a Kubernetes a host is, told by what both sides see of the same machine.

An address would not do: every lab has the same range, so that hosts of one lab have the addresses
of another's.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from lightkube.resources.core_v1 import Node

from dunnage.clusters.nodes import name, why_unready
from dunnage.contracts.host import Host
from dunnage.errors import UnavailableError

_READ = """
for each in /etc/machine-id /var/lib/dbus/machine-id; do
    test -s "$each" && cat "$each" && break
done
cat /proc/sys/kernel/random/boot_id
"""
"""The same files, in the same order, as a kubelet reads."""
_LINES = 2


@dataclass(frozen=True)
class Machine:
    """A system that is running: both ids together tell it from a clone and from its last start."""

    machine_id: str
    boot_id: str


def nodes_of(hosts: Sequence[Host], nodes: Iterable[Node], listing: str) -> Mapping[str, Node]:
    """Host → its node; `listing` is the command that lists the nodes.

    Raises UnavailableError for a host that is none of them, or is one that is not ready, and where
    a node would be two hosts or a host two nodes.
    """
    known = [(_machine(node), node) for node in nodes]
    found: dict[str, Node] = {}
    for host in hosts:
        shown = _shown(host)
        own = [node for machine, node in known if machine == shown]
        if len(own) != 1:
            told = f"nodes {', '.join(map(name, own))} all have" if own else "no node has"
            raise UnavailableError(
                f"{told} this host's machine id `{shown.machine_id}` and boot id "
                f"`{shown.boot_id}`; the hosts of a lab are nodes of no other cluster",
                where=host.name,
                hint=listing,
            )
        if why := why_unready(own[0]):
            raise UnavailableError(
                f"its node `{name(own[0])}` is not ready: {why}", where=host.name, hint=listing
            )
        other = next((each for each, node in found.items() if node is own[0]), None)
        if other is not None:
            raise UnavailableError(
                f"its node `{name(own[0])}` is that of `{other}` too: each host must be a node of "
                "its own",
                where=host.name,
                hint=listing,
            )
        found[host.name] = own[0]
    return found


def _machine(node: Node) -> Machine | None:
    info = node.status.nodeInfo if node.status is not None else None
    return Machine(info.machineID, info.bootID) if info is not None else None


def _shown(host: Host) -> Machine:
    done = host.run(["sh", "-c", _READ])
    lines = done.stdout.split()
    if done.code != 0 or len(lines) != _LINES:
        raise UnavailableError(
            "the host shows no machine id by which its node could be found",
            where=host.name,
            hint="systemd-machine-id-setup",
        )
    return Machine(*lines)
