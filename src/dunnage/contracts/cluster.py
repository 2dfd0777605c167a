"""What a Kubernetes of someone else's tells of itself to whoever has a context for it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

MANAGED = {"app.kubernetes.io/managed-by": "dunnage"}
"""Label of every object of every stay."""
OF_A_STAY = "dunnage.stay"
"""Label that tells the things of one stay from those of others."""
Machine = tuple[str, str]
"""The machine id and the boot id of a system that is running."""


@dataclass(frozen=True)
class RightSeen:
    """Something that Dunnage does in a cluster, and whether its user may."""

    right: str
    """Such as `create pods/exec`, of a subresource: `kubectl auth can-i create pods
    --subresource=exec`."""
    held: bool
    how: str
    """What gives it, to be typed by who may; empty where it is held."""


@dataclass(frozen=True)
class NodeSeen:
    """One node."""

    name: str
    host: str
    """Which host that we know it is; empty if it is none."""
    unready: str
    """What keeps it from being used; empty for nothing."""
    told: Mapping[str, str]
    """Versions, and where it is, as the node tells them."""


@dataclass(frozen=True)
class StaySeen:
    """A stay that has something in a cluster, whether or not a study still uses it."""

    stay: str
    """What its objects are labelled with."""
    since: str
    """When the first of them was made, as the cluster tells; empty if it does not."""
    objects: Mapping[str, tuple[str, ...]]
    """Kind → names: its namespace, which holds all others, and volumes, which are in none."""
    removing: str
    """What removes all of it, to be typed."""


@dataclass(frozen=True)
class ClusterSeen:
    """What an API server told."""

    context: str
    server: str
    """Its URL."""
    version: str
    user: str
    """Who it takes us for."""
    groups: tuple[str, ...]
    rights: tuple[RightSeen, ...]
    nodes: tuple[NodeSeen, ...]
    nodes_unread: str
    """Why nodes are not known; empty where they are."""
    network: str
    """What joins pods, as nodes tell; begins with `unknown` where they do not."""
    proxy: str
    """kube-proxy's mode, or `unknown` and why."""
