"""What a deployment asks for of a network of pods. Pure."""

from __future__ import annotations

from collections.abc import Mapping

from dunnage.model.cni import CNI
from dunnage.model.deployment import Deployment
from dunnage.platforms.kubernetes.cni_network import driver_of

ASKED: Mapping[str, Mapping[str, str]] = {
    "flannel-vxlan": {"encapsulation": "vxlan", "routing": "flannel"},
    "flannel-host-gw": {"encapsulation": "none", "routing": "flannel"},
    "bridge": {"encapsulation": "none", "routing": "static"},
    CNI: {},
}
"""Network of pods → what its name says of the way between hosts; `cni` may be any."""


def asked_of(deployment: Deployment, proxy: str, *, ours: bool) -> dict[str, str]:
    """What must be in force on a deployment's network of pods, and its mode of kube-proxy.

    In a Kubernetes that is not ours, others may have made the routes by other means.
    """
    named = ASKED[deployment.network].items()
    wanted = {name: way for name, way in named if ours or name != "routing"}
    return {**wanted, **driver_of(deployment), "proxy": proxy}
