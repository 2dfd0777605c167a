"""What a study will create in a Kubernetes, known before anything is asked or obtained."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

from dunnage import catalog
from dunnage.hosts.namespace.planned import PlannedHost, planned_hosts
from dunnage.hosts.nodes.planned import (
    OWNER,
    WHY,
    hostname_of_node,
    labels_of_nodes,
    named_node,
    planned_client,
    planned_nodes,
    planned_objects,
)
from dunnage.model.deployment import Deployment
from dunnage.model.plan import StayPlan
from dunnage.model.study import CLIENT_GROUP, TestbedSpec
from dunnage.platforms.kubernetes.foreseen import ForeseenObject, Ground, foreseen, unlike
from dunnage.platforms.kubernetes.manifests import Manifests
from dunnage.platforms.stay_names import StayNames
from dunnage.software.foreseen import ForeseenTrees

STAY_NUMBER = "00000000"
"""Stands for what tells a stay's names from those of others, which is drawn when it begins."""


def objects(
    deployment: Deployment, hosts: TestbedSpec, stay: StayPlan, *, confined: bool = False
) -> tuple[ForeseenObject, ...]:
    """All objects that a stay of a deployment on Kubernetes will create, in their order, or would
    where a cluster that exists already refuses privileged pods (`confined`). Nothing is asked or
    obtained for that. Raises UnavailableError where it could not be carried out there.
    """
    here = catalog.OFFER.testbeds[hosts.kind].here
    database = catalog.DATABASES[deployment.database.kind]()
    members = stay.hosts or deployment.hosts

    def ground(
        planned: Sequence[PlannedHost],
        nodes: Callable[[str], str],
        hostnames: Callable[[str], str],
    ) -> Ground:
        floating = {host.name: host.floating for host in planned}
        return Ground(
            hosts=[host for host in planned if host.group == members],
            clients=[host for host in planned if host.group == CLIENT_GROUP],
            trees=ForeseenTrees(),
            nodes={host.name: nodes(host.name) for host in planned},
            hostnames={host.name: hostnames(host.name) for host in planned},
            ours=here,
            floating=lambda host: floating[host.name],
            agents="" if here else str(hosts.image),
        )

    if here:
        on = ground(planned_hosts(hosts), str, str)
    else:
        on, another = (
            replace(
                ground(
                    planned_nodes(hosts, confined=confined, others=others),
                    partial(named_node, hosts, others=others),
                    partial(hostname_of_node, others=others),
                ),
                beside=partial(planned_client, hosts, others=others) if confined else None,
            )
            for others in (False, True)
        )
        on = replace(on, elsewhere=another, why=WHY)
    return foreseen(
        Manifests(
            deployment,
            StayNames.of(stay.id.lower(), STAY_NUMBER),
            {} if here else labels_of_nodes(hosts),
        ),
        database.layout(deployment.database),
        lambda now: database.stages(deployment.database, now),
        on,
    )


def agents(hosts: TestbedSpec, study: str, *, confined: bool = False) -> tuple[ForeseenObject, ...]:
    """All objects that a study's testbed will create in a cluster before any stay, in their order;
    `confined` as above. Only hosts that are nodes of one have some."""
    if catalog.OFFER.testbeds[hosts.kind].here:
        return ()
    one, other = (
        planned_objects(hosts, study, confined=confined, others=others) for others in (False, True)
    )
    return tuple(
        ForeseenObject(made, host, unknown=unlike(made, other[host], WHY if host else OWNER))
        for host, made in one.items()
    )
