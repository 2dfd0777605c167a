"""How a lab divides this machine."""

from __future__ import annotations

from collections.abc import Mapping

from dunnage.hosts.namespace.cores import Partition
from dunnage.hosts.namespace.network import InForce
from dunnage.model.study import TestbedSpec
from dunnage.model.value import Scalar


def lab_facts(
    spec: TestbedSpec, partition: Partition, cgroups: int, in_force: Mapping[str, InForce]
) -> dict[str, Scalar]:
    """How the lab divides the machine, and what its network really has."""
    facts: dict[str, Scalar] = {
        "hosts.kind": "namespace",
        "hosts.cgroups": cgroups,
        "hosts.memory": None if spec.memory is None else int(spec.memory),
        "cores.apart": partition.apart,
        "cores.siblings_parted": partition.siblings_parted,
        "network.steer": spec.steer,
    }
    for group, cores in partition.groups.items():
        facts[f"cores.{group}"] = ",".join(map(str, cores))
    for host, interface in in_force.items():
        facts[f"network.{host}.mtu"] = interface.mtu
        facts[f"network.{host}.rps"] = interface.rps
    return facts
