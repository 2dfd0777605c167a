"""What Docker can be asked for: known without what speaks to a daemon."""

from __future__ import annotations

from dunnage.model.choices import Storage
from dunnage.model.offer import OF_HOSTS, NetworkOffer
from dunnage.platforms.offered import BRIDGE, DOCKER, HOST, USER_DEFINED, of_containers

OFFER = of_containers(
    {
        BRIDGE: NetworkOffer(OF_HOSTS, "Bridge", "with a bridge network"),
        HOST: NetworkOffer(OF_HOSTS, "Only", "with host networking"),
        USER_DEFINED: NetworkOffer(
            OF_HOSTS, "UserDefined", "with a user-defined network", takes_options=True
        ),
    },
    storages=(Storage.BIND, Storage.VOLUME, Storage.CONTAINER, Storage.TMPFS),
    substrate="docker",
    stay_seconds=3.0,
    name="Docker",
    title="Docker",
    needs=(DOCKER,),
    begin_with={
        HOST: "containers in the host's own network",
        BRIDGE: "containers on Docker's bridge, reached by published ports",
    },
)
