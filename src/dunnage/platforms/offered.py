"""What platforms of containers offer alike, and how they refuse without a substrate."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from dunnage.errors import UnavailableError
from dunnage.model.choices import ClientPlace, Storage
from dunnage.model.deployment import Deployment
from dunnage.model.offer import OF_HOSTS, Capability, EndpointOffer, NetworkOffer, PlatformOffer

DOCKER = Capability("docker")
"""A Docker daemon can be had."""

BRIDGE, USER_DEFINED, OVERLAY = "bridge", "user-defined", "overlay"
EXISTING = "existing"
"""The network that somebody else's cluster has, whatever it is."""
HOST = "host"
"""The network of a member that has its host's own."""
HOST_NETWORK = NetworkOffer(OF_HOSTS, title="HostNetwork", phrase="with host networking")
"""The same as an orchestrator offers it."""

CONTAINER_DNS, SERVICE_IP, NODE_PORT = "container-dns", "service-ip", "node-port"
NAME = EndpointOffer("ContainerDNSName", of_cluster=True, clients=(ClientPlace.CONTAINER,))
"""A name that only containers know."""


def of_containers(
    networks: Mapping[str, NetworkOffer],
    *,
    substrate: str,
    name: str,
    title: str,
    needs: tuple[Capability, ...],
    stay_seconds: float,
    storages: tuple[Storage, ...] = (Storage.BIND, Storage.VOLUME, Storage.TMPFS),
    begin_with: Mapping[str, str] = MappingProxyType({}),
) -> PlatformOffer:
    """The offer of a platform whose members run in containers, as its clients may.

    Copies of files can be put on what a host keeps without the container.
    """
    return PlatformOffer(
        networks=networks,
        storages=storages,
        clients=(ClientPlace.HOST, ClientPlace.CONTAINER),
        substrate=substrate,
        stay_seconds=stay_seconds,
        name=name,
        title=title,
        needs=needs,
        restorable=(Storage.BIND, Storage.VOLUME),
        begin_with=begin_with,
    )


def unsupported(deployment: Deployment, needed: str) -> UnavailableError:
    """The refusal of a deployment's platform, for want of what it needs (`a Docker daemon`)."""
    return UnavailableError(
        f"platform `{deployment.platform}` needs {needed}",
        where=deployment.name,
        hint="dunnage doctor",
    )
