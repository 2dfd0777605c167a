"""What a deployment asks for of a network of pods. Pure."""

from __future__ import annotations

from collections.abc import Mapping

from dunnage.model.cni import CNI
from dunnage.model.deployment import Deployment
from dunnage.platforms.kubernetes.cni_network import driver_of
from dunnage.platforms.offered import EXISTING

ASKED: Mapping[str, Mapping[str, str]] = {
    "flannel-vxlan": {
        "plugin": "flannel, vxlan",
        "driver": "bridge",
        "encapsulation": "vxlan",
        "routing": "flannel",
    },
    "flannel-host-gw": {
        "plugin": "flannel, host-gw",
        "driver": "bridge",
        "encapsulation": "none",
        "routing": "flannel",
    },
    "bridge": {
        "plugin": "bridge",
        "driver": "bridge",
        "encapsulation": "none",
        "routing": "static",
    },
    CNI: {},
    EXISTING: {},
}
"""Network of pods → what its name says of it; `cni` and `existing` may be any. The plugin
`bridge` writes nothing to nodes, so that none of those that do is taken for it."""


def asked_of(
    deployment: Deployment, proxy: str, *, ours: bool, seen: bool = True
) -> dict[str, str]:
    """What must be in force on a deployment's network of pods, and its mode of kube-proxy.

    In a Kubernetes that is not ours, others may have made the routes by other means, and nodes may
    tell of the plugin. Where its nodes are not `seen`, that stands for the driver.
    """
    left = {"plugin" if ours else "routing", *(() if seen else ("driver",))}
    named = {name: way for name, way in ASKED[deployment.network].items() if name not in left}
    return {**named, **driver_of(deployment), "proxy": proxy}
