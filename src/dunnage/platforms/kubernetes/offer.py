"""What the platform can be asked for: known without what speaks to a Kubernetes."""

from __future__ import annotations

from dunnage.model.choices import ClientPlace, Storage
from dunnage.model.offer import OF_HOSTS, Capability, EndpointOffer, NetworkOffer, PlatformOffer
from dunnage.platforms.swarm import CONTAINER_DNS, NODE_PORT, SERVICE_IP, VXLAN

KUBERNETES = Capability("kubernetes")
"""The programs of a Kubernetes can be had."""
HOST = "host"

_ENDPOINTS = {
    **OF_HOSTS,
    NODE_PORT: EndpointOffer("NodePort", of_cluster=True),
    SERVICE_IP: EndpointOffer("ServiceIP", of_cluster=True, joined=True),
    CONTAINER_DNS: EndpointOffer(
        "ContainerDNSName", of_cluster=True, clients=(ClientPlace.CONTAINER,)
    ),
}

OFFER = PlatformOffer(
    networks={
        "flannel-vxlan": NetworkOffer(
            _ENDPOINTS,
            phrase="with flannel's VXLAN network",
            takes_options=True,
            needs=(VXLAN,),
        ),
        "flannel-host-gw": NetworkOffer(
            _ENDPOINTS,
            phrase="with the routes of flannel's host-gw network",
            takes_options=True,
        ),
        "bridge": NetworkOffer(
            _ENDPOINTS, phrase="with bridges and static routes", takes_options=True
        ),
        HOST: NetworkOffer(OF_HOSTS, title="HostNetwork", phrase="with host networking"),
    },
    storages=(Storage.BIND, Storage.VOLUME, Storage.TMPFS),
    clients=(ClientPlace.HOST, ClientPlace.CONTAINER),
    substrate="kubernetes",
    stay_seconds=12.0,
    name="Kubernetes",
    title="K8",
    needs=(KUBERNETES,),
    restorable=(Storage.BIND, Storage.VOLUME),
)
