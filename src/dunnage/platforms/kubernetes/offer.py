"""What the platform can be asked for: known without what speaks to a Kubernetes."""

from __future__ import annotations

from dunnage.model.cni import CNI, CONFIGURATION
from dunnage.model.offer import OF_HOSTS, VXLAN, Capability, EndpointOffer, NetworkOffer
from dunnage.model.proxy import PROXY, ProxyMode
from dunnage.platforms.kubernetes.cni_network import misfits
from dunnage.platforms.offered import (
    CONTAINER_DNS,
    EXISTING,
    HOST,
    HOST_NETWORK,
    NAME,
    NODE_PORT,
    SERVICE_IP,
    of_containers,
)

KUBERNETES = Capability("kubernetes")
"""The programs of a Kubernetes can be had."""

_ENDPOINTS = {
    **OF_HOSTS,
    NODE_PORT: EndpointOffer("NodePort", of_cluster=True),
    SERVICE_IP: EndpointOffer("ServiceIP", of_cluster=True, joined=True),
    CONTAINER_DNS: NAME,
}

_OPTIONS = {PROXY: tuple(map(str, ProxyMode))}

OFFER = of_containers(
    {
        "flannel-vxlan": NetworkOffer(
            _ENDPOINTS,
            phrase="with flannel's VXLAN network",
            takes_options=True,
            options=_OPTIONS,
            needs=(VXLAN,),
        ),
        "flannel-host-gw": NetworkOffer(
            _ENDPOINTS,
            phrase="with the routes of flannel's host-gw network",
            takes_options=True,
            options=_OPTIONS,
        ),
        "bridge": NetworkOffer(
            _ENDPOINTS,
            phrase="with bridges and static routes",
            takes_options=True,
            options=_OPTIONS,
        ),
        CNI: NetworkOffer(
            _ENDPOINTS,
            phrase="with a CNI configuration of your own",
            takes_options=True,
            existing=False,
            options={**_OPTIONS, CONFIGURATION: ()},
            check=misfits,
        ),
        EXISTING: NetworkOffer(
            _ENDPOINTS,
            phrase="with the network that the cluster has",
            takes_options=True,
            existing=True,
            options=_OPTIONS,
        ),
        HOST: HOST_NETWORK,
    },
    substrate="kubernetes",
    stay_seconds=12.0,
    name="Kubernetes",
    title="K8",
    needs=(KUBERNETES,),
)
