"""Hosts that are nodes, before anything is asked of their cluster. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from dunnage.contracts.cluster import OF_A_TESTBED
from dunnage.hosts.namespace.planned import PlannedHost
from dunnage.hosts.nodes.manifests import Agent, Manifest, agent_pod, namespace, scratch
from dunnage.model.study import TestbedSpec

TESTBED = "TESTBED"
"""Stands for what the testbed is called, which is drawn when it is opened."""
_ADDRESS, _ANOTHER = "198.51.100.{}", "203.0.113.{}"
"""Stand for a node's address (TEST-NET-2 and 3, RFC 5737): they can belong to nobody."""
WHY = "the cluster tells it of the node that is chosen"


def planned_nodes(spec: TestbedSpec, *, others: bool = False) -> tuple[PlannedHost, ...]:
    """The hosts that a testbed will have, where its agents are privileged.

    With `others` all that is not known yet is another.
    """
    address = _ANOTHER if others else _ADDRESS
    return tuple(
        PlannedHost(
            name=name,
            group=group,
            address=address.format(number),
            floating="",
            scratch=scratch(TESTBED, name),
            engine=f"{scratch(TESTBED, name)}/engine",
        )
        for number, (group, name) in enumerate(_hosts(spec), 1)
    )


def named_node(spec: TestbedSpec, host: str, *, others: bool = False) -> str:
    """Name of a host's node, or what stands for it where the study names none."""
    group, _, number = host.rpartition("-")
    names = spec.nodes.get(group, ())
    unknown = f"another-than-of-{host}" if others else f"node-of-{host}"
    return names[int(number) - 1] if int(number) <= len(names) else unknown


def labels_of_nodes(spec: TestbedSpec) -> Mapping[str, str]:
    """Those of every namespace that is made in the cluster."""
    return {**spec.labels, OF_A_TESTBED: TESTBED}


def planned_objects(spec: TestbedSpec, *, others: bool = False) -> Mapping[str, Manifest]:
    """What the testbed creates in the cluster before the first stay: its namespace under the name
    "", then the pod of each host's agent under the host's.

    With `others` all that is not known yet is another.
    """
    agents = [
        Agent(
            testbed=TESTBED,
            host=host,
            number=number,
            node=named_node(spec, host, others=others),
            image=str(spec.image),
            privileged=True,
        )
        for number, (_, host) in enumerate(_hosts(spec), 1)
    ]
    labels = {OF_A_TESTBED: TESTBED}
    return {
        "": namespace(TESTBED, spec.labels, {}),
        **{agent.host: agent_pod(agent, labels) for agent in agents},
    }


def _hosts(spec: TestbedSpec) -> Iterator[tuple[str, str]]:
    for group, size in spec.hosts.items():
        for number in range(1, size + 1):
            yield group, f"{group}-{number}"
