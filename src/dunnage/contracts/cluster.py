"""What a Kubernetes of someone else's tells of itself to whoever has a context for it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

MANAGED = {"app.kubernetes.io/managed-by": "dunnage"}
"""Label of every object of every stay."""
OF_A_STAY = "dunnage.stay"
"""Label that tells the things of one stay from those of others."""
OF_A_TESTBED = "dunnage.testbed"
"""Label of what belongs to the hosts of one study: their agents, and its stays."""
OF_A_GROUP = "dunnage/group"
"""Label of nodes: the group of hosts that they are in, where a study names none."""
OWNED_BY = "dunnage/owner"
"""Annotation that tells which process a testbed belongs to."""
EVERY_STUDY = "every study"
"""What a right is for that is needed whatever a study deploys."""
Machine = tuple[str, str]
"""The machine id and the boot id of a system that is running."""


@dataclass(frozen=True)
class RightSeen:
    """Something that Dunnage does in a cluster, and whether its user may."""

    right: str
    """Such as `create pods/exec`, of a subresource: `kubectl auth can-i create pods
    --subresource=exec`."""
    purpose: str
    """What it is for: `EVERY_STUDY`, only studies that have this, such as `storage: volume`, or
    what no study is refused for."""
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
    testbed: str = ""
    """The testbed whose hosts it lives on; empty if they are no nodes that Dunnage was given."""


@dataclass(frozen=True)
class Owner:
    """A process, told from any other that there ever was."""

    machine: str
    """What tells the machine that it runs on from any other."""
    boot: str
    """Boot id of that."""
    pid: int
    born: int
    """Its start, in ticks since the boot."""


@dataclass(frozen=True)
class TestbedSeen:
    """Agents on nodes, by which those are hosts of one study."""

    __test__ = False  # pytest would take it for a test class by its name

    testbed: str
    """What its objects are labelled with."""
    study: str
    since: str
    """When it was made, as the cluster tells; empty if it does not."""
    owner: Owner | None
    """The process that it belongs to; None if nothing tells."""
    agents: Mapping[str, str]
    """Node → phase of the agent's pod there, such as `Running`. An agent ends when nobody asks it
    for anything for a while."""
    removing: str
    """What removes all of it, to be typed."""
    age: float | None = None
    """Seconds since it was made, by this machine's clock; None if the cluster does not tell."""
    nodes: tuple[str, ...] = ()
    """Those that it was made for, as it said before it had an agent on any."""

    @property
    def asked(self) -> bool:
        """Whether an agent lives, or is about to."""
        return any(phase in ("Running", "Pending") for phase in self.agents.values())


@dataclass(frozen=True)
class LeftSeen:
    """What Dunnage has in a cluster, in use or not."""

    stays: tuple[StaySeen, ...]
    testbeds: tuple[TestbedSeen, ...]
    volumes_unread: str = ""
    """Why volumes of stays are not known; empty where they are."""


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
