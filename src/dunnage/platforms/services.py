"""What a member's service of a Swarm is made of. Pure: arguments of Docker's API out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from docker.types import (
    ContainerSpec,
    DriverConfig,
    EndpointSpec,
    NetworkAttachmentConfig,
    Placement,
    Resources,
    RestartPolicy,
    ServiceMode,
    TaskTemplate,
    Ulimit,
)

from dunnage.errors import StayError
from dunnage.model.choices import Storage
from dunnage.model.layout import Place, Service
from dunnage.model.study import Limits
from dunnage.platforms.containers import (
    ENVIRONMENT,
    engine_mount,
    mounts,
    network_name,
)
from dunnage.platforms.offered import HOST
from dunnage.platforms.stay_names import StayNames

_SECOND = 10**9
"""Swarm counts nanoseconds, and billionths of a processor."""


def arguments(
    service: Service,
    place: Place,
    *,
    stay: StayNames,
    node: str,
    image: str,
    argv: tuple[str, ...],
    engine: str,
    network: str,
    mode: str,
    published: str | None,
    storage: Storage,
    limits: Limits,
    ulimits: list[Ulimit],
) -> dict[str, Any]:
    """Arguments of `create_service` for one member: one task, on one node, never started again.

    Everything that is not the factor under study is what the same member has in a container of
    Docker's alone. `mode` is how its names are resolved: `dnsrr` to its task, `vip` to an
    address before it. With `published` its ports are those of its node as well (`host`), or of all
    nodes (`ingress`).
    """
    container = ContainerSpec(
        image,
        command=[argv[0]],
        args=list(argv[1:]),
        env={**ENVIRONMENT, **service.env},
        labels=stay.labels,
        user="0:0",
        workdir="/",
        mounts=[*mounts(place, storage, stay), engine_mount(engine)],
        stop_signal=f"SIG{service.stop_signal}",
        stop_grace_period=round(service.stop_grace * _SECOND),
        cap_add=["IPC_LOCK"],
    )
    container["Ulimits"] = ulimits  # the SDK has no word for them
    # Members go by their own names in the stay's network; it is the only one they share.
    aliases = None if network == HOST else [service.member]
    template = TaskTemplate(
        container,
        resources=_resources(limits),
        restart_policy=RestartPolicy(condition="none"),
        placement=Placement(constraints=[f"node.id=={node}"]),
        log_driver=DriverConfig("json-file"),
        networks=[NetworkAttachmentConfig(network_name(network, stay), aliases)],
    )
    return {
        "task_template": template,
        "name": stay.thing(service.member),
        "labels": stay.labels,
        "mode": ServiceMode("replicated", replicas=1),
        "endpoint_spec": EndpointSpec(mode=mode, ports=_ports(place, published)),
    }


def virtual_address(inspected: Mapping[str, Any], network: str, member: str) -> str:
    """The address before the task of a member's service in the network of this identifier, as a
    manager tells of the service. Raises StayError where it has none there."""
    for each in (inspected.get("Endpoint") or {}).get("VirtualIPs") or []:
        if each.get("NetworkID") == network and each.get("Addr"):
            return str(each["Addr"]).partition("/")[0]
    raise StayError(
        f"its service has no address in the network `{network}`",
        where=member,
        hint=f"docker service inspect {inspected['Spec']['Name']}",
    )


def _ports(place: Place, published: str | None) -> list[dict[str, Any]] | None:
    if published is None:
        return None
    return [
        {
            "Protocol": "tcp",
            "TargetPort": addresses.bind.port,
            "PublishedPort": addresses.advertised.port,
            "PublishMode": published,
        }
        for addresses in place.ports.values()
    ]


def _resources(limits: Limits) -> Resources:
    resources = Resources(
        cpu_limit=None if limits.cpus is None else round(limits.cpus * _SECOND),
        mem_limit=None if limits.memory is None else int(limits.memory),
    )
    if limits.pids is not None:
        resources.setdefault("Limits", {})["Pids"] = limits.pids
    return resources
