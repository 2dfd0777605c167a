"""The objects by which nodes are hosts. Pure: manifests out, as they are sent."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from dunnage.clusters.pinned import pinned
from dunnage.clusters.restricted import OF_CONTAINERS, OF_PODS
from dunnage.contracts.cluster import MANAGED, OF_A_TESTBED
from dunnage.hosts.channel.link import SILENCE

Manifest = dict[str, Any]
CONTAINER = "agent"
OWN = "/dunnage"
"""Where an agent's pod has what is its own."""
ENGINE = f"{OWN}/engine"
SOCKET = f"{OWN}/agent"
ON_NODES = "/var/lib/dunnage/nodes"
"""Directory on nodes, of all that Dunnage has there."""
_HOST = "dunnage/host"
"""Annotation of an agent's pod: the name of the host that its node is."""
_OPEN_FILES = 20_000
_WAITS = 3000
"""Tenths of a second for which a pod waits for the engine, before it ends."""
_BEGIN = f"""
left={_WAITS}
until [ -x {ENGINE} ]; do
    left=$((left - 1)); [ $left -gt 0 ] || exit 1
    sleep 0.1 || sleep 1
done
{ENGINE} agent "$@" & agent=$!
trap 'kill -TERM $agent' TERM INT
wait $agent
wait $agent
"""
"""Waits until the engine was brought, and then for its end; it hands on that it shall end.

Commands that are run in a container later are where its first process is. So that stays in the
container, and its child goes to the node. The second `wait` is for a first one that is cut short.
"""


@dataclass(frozen=True)
class Agent:
    """One node's agent, before it is there."""

    testbed: str
    """The namespace that it is in: that of the testbed, or of a stay that has a client there."""
    host: str
    number: int
    node: str
    image: str
    privileged: bool

    @property
    def pod(self) -> str:
        """Name of its pod."""
        return f"{CONTAINER}-{self.number}"

    @property
    def scratch(self) -> str:
        """Its directory: on its node, or in its pod where it may not be on the node."""
        return scratch(self.testbed, self.host) if self.privileged else f"{OWN}/{self.host}"


def scratch(testbed: str, host: str) -> str:
    """The directory of a host on its node."""
    return f"{ON_NODES}/{testbed}/{host}"


def namespace(testbed: str, labels: Mapping[str, str], annotations: Mapping[str, str]) -> Manifest:
    """What holds all agents of one testbed; it is called as that is."""
    return {
        "apiVersion": "v1",
        "kind": "Namespace",
        "metadata": {
            "name": testbed,
            "labels": {**labels, **MANAGED, OF_A_TESTBED: testbed},
            "annotations": dict(annotations),
        },
    }


def agent_pod(agent: Agent, labels: Mapping[str, str]) -> Manifest:
    """A pod on one node, which is not started anew when it has ended.

    A privileged one shares its node's processes and network, and enters the node's files. Any other
    is fit for the strictest of the Pod Security Standards, `restricted`.
    """
    argv = [
        *("--socket", SOCKET, "--scratch", agent.scratch),
        *("--silence", f"{SILENCE:g}", "--files", str(_OPEN_FILES)),
        *(("--node",) if agent.privileged else ()),
    ]
    container: Manifest = {
        "name": CONTAINER,
        "image": agent.image,
        "imagePullPolicy": "IfNotPresent",
        "command": ["sh", "-c", _BEGIN, CONTAINER],
        "args": argv,
        "workingDir": "/",
        "volumeMounts": [{"name": "own", "mountPath": OWN}],
    }
    if agent.privileged:
        container["securityContext"] = {"privileged": True, "runAsUser": 0, "runAsGroup": 0}
        rights: Manifest = {"hostPID": True, "hostNetwork": True}
    else:
        container["securityContext"] = OF_CONTAINERS
        rights = {"securityContext": OF_PODS}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": agent.pod,
            "namespace": agent.testbed,
            "labels": {**labels, **MANAGED},
            "annotations": {_HOST: agent.host},
        },
        "spec": {
            **rights,
            "affinity": pinned(agent.node),
            "tolerations": [{"operator": "Exists"}],
            "automountServiceAccountToken": False,
            "enableServiceLinks": False,
            "restartPolicy": "Never",
            "terminationGracePeriodSeconds": 5,
            "containers": [container],
            "volumes": [{"name": "own", "emptyDir": {}}],
        },
    }
