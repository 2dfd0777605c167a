"""Hosts that are nodes, before anything is asked of their cluster. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from dunnage.clusters.owned import owned
from dunnage.contracts.cluster import OF_A_TESTBED, Owner
from dunnage.contracts.host import Site
from dunnage.hosts.namespace.planned import PlannedHost
from dunnage.hosts.nodes.manifests import Agent, Manifest, agent_pod, namespace
from dunnage.model.study import TestbedSpec

TESTBED = "TESTBED"
"""Stands for what the testbed is called, which is drawn when it is opened."""
_ADDRESS, _ANOTHER = "198.51.100.{}", "203.0.113.{}"
"""Stand for a node's address (TEST-NET-2 and 3, RFC 5737): they can belong to nobody."""
WHY = "the cluster tells it of the node that is chosen"
OWNER = "it tells the process that opens the testbed"


def planned_nodes(
    spec: TestbedSpec, *, confined: bool = False, others: bool = False
) -> tuple[PlannedHost, ...]:
    """The hosts that a testbed will have; those of `confined` agents see no more than their pods.

    With `others` all that is not known yet is another.
    """
    address = _ANOTHER if others else _ADDRESS
    return tuple(
        PlannedHost(
            name=agent.host,
            group=agent.host.rpartition("-")[0],
            address=address.format(agent.number),
            floating="",
            scratch=agent.scratch,
            engine=f"{agent.scratch}/engine",
        )
        for agent in _agents(spec, confined=confined, others=others)
    )


def named_node(spec: TestbedSpec, host: str, *, others: bool = False) -> str:
    """Name of a host's node, or what stands for it where the study names none."""
    group, _, number = host.rpartition("-")
    names = spec.nodes.get(group, ())
    unknown = f"another-than-of-{host}" if others else f"node-of-{host}"
    return names[int(number) - 1] if int(number) <= len(names) else unknown


def hostname_of_node(host: str, *, others: bool = False) -> str:
    """What stands for the label of a host's node by which volumes are bound to it."""
    return f"another-hostname-than-of-{host}" if others else f"hostname-of-{host}"


def labels_of_nodes(spec: TestbedSpec) -> Mapping[str, str]:
    """Those of every namespace that is made in the cluster."""
    return {**spec.labels, OF_A_TESTBED: TESTBED}


def planned_objects(
    spec: TestbedSpec, study: str, *, confined: bool = False, others: bool = False
) -> Mapping[str, Manifest]:
    """What the testbed creates in the cluster before the first stay: its namespace under the name
    "", then the pod of each host's agent under the host's.

    With `others` all that is not known yet is another.
    """
    owner = Owner("another", "another", 1, 1) if others else Owner("", "", 0, 0)
    labels = {OF_A_TESTBED: TESTBED}
    agents = [*_agents(spec, confined=confined, others=others)]
    nodes = sorted({each.node for each in agents})
    return {
        "": namespace(TESTBED, spec.labels, owned(study, owner, nodes)),
        **{agent.host: agent_pod(agent, labels) for agent in agents},
    }


def planned_client(
    spec: TestbedSpec, host: Site, place: str, labels: Mapping[str, str], *, others: bool = False
) -> Manifest:
    """The pod without rights beside a host's node in which its client is, in a stay's namespace."""
    agents = _agents(spec, confined=True, others=others)
    agent = next(each for each in agents if each.host == host.name)
    return agent_pod(replace(agent, testbed=place), labels)


def _agents(spec: TestbedSpec, *, confined: bool, others: bool) -> Iterator[Agent]:
    names = [
        f"{group}-{number}" for group, size in spec.hosts.items() for number in range(1, size + 1)
    ]
    for number, host in enumerate(names, 1):
        yield Agent(
            testbed=TESTBED,
            host=host,
            number=number,
            node=named_node(spec, host, others=others),
            image=str(spec.image),
            privileged=not confined,
        )
