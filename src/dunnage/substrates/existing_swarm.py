"""A Docker Swarm that is already there, every node reached by a Docker context.

It is never begun, left, stopped or held still; a study's own services, networks and volumes are the
platform's to remove.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

from dunnage.contracts.docker import Daemon
from dunnage.contracts.host import Host
from dunnage.errors import UnavailableError
from dunnage.model.study import CONTROL_GROUP
from dunnage.model.value import Scalar
from dunnage.substrates.existing import Existing, Reached, asking, inquire, reached
from dunnage.substrates.membership import (
    in_a_swarm,
    not_ready,
    own_node,
    swarm_facts,
    takes_orders,
)

FAMILY = "swarm"


@contextmanager
def open_existing_swarm(
    contexts: Mapping[str, str], hosts: Sequence[Host]
) -> Iterator[ExistingSwarm]:
    """Ask every host's daemon for its node; `contexts` maps a host to the name of its context.

    The manager is one of them, or is reached by a further context `control`. DOCKER_CONFIG is
    honoured. Raises UnavailableError when a host has no context, its daemon does not answer, or
    they are not ready nodes of one Swarm.
    """
    nodes = {host.name: inquire(host, contexts, FAMILY) for host in hosts}
    members = {host: _node(host, there) for host, there in nodes.items()}
    for host, node in members.items():
        first = next(other for other in members if members[other] == node)
        if first != host:
            raise UnavailableError(
                f"its Docker context `{nodes[host].context}` leads to the node of `{first}`: each "
                "host needs one of its own",
                where=host,
                hint=asking(nodes[host].context),
            )
    yield ExistingSwarm(nodes, members, _manager(contexts, nodes, members))


class ExistingSwarm(Existing):
    """The nodes of someone else's Swarm."""

    def __init__(
        self, nodes: Mapping[str, Reached], members: Mapping[str, str], manager: Reached
    ) -> None:
        super().__init__(nodes)
        self._members = members
        self._manager = manager

    @property
    def manager(self) -> Daemon:
        return self._manager.daemon

    def node(self, host: str) -> str:
        return self._members[host]

    def facts(self) -> Mapping[str, Scalar]:
        """What the daemons told of themselves, and the manager of the Swarm."""
        return {**super().facts(), **swarm_facts(self._manager.info), "ours": False}


def _node(host: str, there: Reached) -> str:
    node = own_node(there.info)
    if node is not None:
        return node
    told = there.info.get("Swarm") or {}
    what = (
        f"cannot take part in its Swarm: it is {told.get('LocalNodeState')}, {told.get('Error')}"
        if in_a_swarm(there.info)
        else "is in no Swarm"
    )
    raise UnavailableError(
        f"the daemon of Docker context `{there.context}` {what}",
        where=host,
        hint=asking(there.context),
    )


def _manager(
    contexts: Mapping[str, str], nodes: Mapping[str, Reached], members: Mapping[str, str]
) -> Reached:
    """The first daemon that is a manager, when all `members` are ready nodes of its Swarm."""
    named = contexts.get(CONTROL_GROUP)
    candidates = list(nodes.values())
    if named is not None:
        with reached(CONTROL_GROUP, named) as (there, _):
            candidates.insert(0, there)
    manager = next((there for there in candidates if takes_orders(there.info)), None)
    if manager is None:
        tried = ", ".join(f"`{there.context}`" for there in candidates)
        raise UnavailableError(
            f"none of the Docker contexts {tried} leads to a manager of the Swarm; name one for "
            f"`{CONTROL_GROUP}` under `substrate: {FAMILY}: contexts:`",
            where=FAMILY,
            hint="docker context ls",
        )
    with reached(manager.daemon.host, manager.context) as (_, client):
        listed = client.api.nodes()
    known = {node["ID"] for node in listed}
    late = not_ready(listed, members)
    for host, state in late.items():
        context = nodes[host].context
        raise UnavailableError(
            f"the manager (Docker context `{manager.context}`) says of its node: {state}"
            if members[host] in known
            else f"the daemon of Docker context `{context}` is a node of another Swarm than the "
            f"manager (Docker context `{manager.context}`)",
            where=host,
            hint=asking(context),
        )
    return manager
