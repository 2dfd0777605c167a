"""Deployments on networks of pods."""

from __future__ import annotations

from dunnage.model.choices import ClientPlace, Peers, Storage
from dunnage.model.deployment import Deployment
from dunnage.model.study import DatabaseSpec, Limits
from dunnage.model.value import Option


def pods_on(network: str, **options: Option) -> Deployment:
    """Redis reached by service addresses, on a network with these options."""
    return Deployment(
        name="pods",
        title="Pods",
        platform="kubernetes",
        network=network,
        network_options=options,
        endpoint="service-ip",
        storage=Storage.BIND,
        peers=Peers.ENDPOINT,
        client=ClientPlace.HOST,
        hosts="db",
        limits=Limits(),
        slowdown=0.0,
        database=DatabaseSpec(kind="redis", version="7.0"),
    )
