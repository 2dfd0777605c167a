"""What a Swarm can be asked for: known without what speaks to a daemon."""

from __future__ import annotations

from dunnage.model.choices import ClientPlace
from dunnage.model.offer import IPVS, OF_HOSTS, VXLAN, EndpointOffer, NetworkOffer
from dunnage.platforms.offered import (
    CONTAINER_DNS,
    DOCKER,
    HOST,
    HOST_NETWORK,
    NAME,
    NODE_PORT,
    OVERLAY,
    SERVICE_IP,
    of_containers,
)

OFFER = of_containers(
    {
        OVERLAY: NetworkOffer(
            {
                **OF_HOSTS,
                CONTAINER_DNS: NAME,
                SERVICE_IP: EndpointOffer(
                    "ServiceIP",
                    needs=(IPVS,),
                    of_cluster=True,
                    clients=(ClientPlace.CONTAINER,),
                ),
                NODE_PORT: EndpointOffer("NodePort", needs=(IPVS,), of_cluster=True),
            },
            phrase="with an overlay network",
            takes_options=True,
            needs=(VXLAN,),
        ),
        HOST: HOST_NETWORK,
    },
    substrate="swarm",
    stay_seconds=8.0,
    name="Swarm",
    title="Swarm",
    needs=(DOCKER,),
)
