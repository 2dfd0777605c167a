"""A platform in one file: networks and endpoints say what they are called and what they need."""

from __future__ import annotations

from dunnage.model.choices import ClientPlace, Storage
from dunnage.model.offer import (
    HOST_PORT,
    Capability,
    EndpointOffer,
    NetworkOffer,
    PlatformOffer,
)
from dunnage.platforms.fake import FakePlatform

IPVS = Capability("ipvs")


class Yard(FakePlatform):
    """The fake's processes, behind a rope."""

    offer = PlatformOffer(
        networks={
            "rope": NetworkOffer(
                {
                    "host-port": HOST_PORT,
                    "bell": EndpointOffer("Bell", needs=(IPVS,), of_cluster=True),
                },
                title="Rope",
                phrase="with a rope",
            )
        },
        storages=(Storage.BIND,),
        clients=(ClientPlace.HOST,),
        substrate="fake",
        stay_seconds=7.0,
        name="Yard",
        title="Yard",
        fake=True,
    )
