"""Members whose pods may have nothing of their node: their files are carried into the pods.

What they are made of is fit for the strictest of the Pod Security Standards, `restricted`. Pure.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import Any

from dunnage.clusters.restricted import OF_CONTAINERS, OF_PODS
from dunnage.errors import UnavailableError
from dunnage.model.choices import ClientPlace, Storage
from dunnage.model.deployment import Deployment
from dunnage.model.layout import Place
from dunnage.model.offer import OF_HOSTS
from dunnage.platforms.offered import HOST

CARRIER = "carrier"
"""Name of the container that waits, before a member starts, until its files were carried there."""
PUT = 'mkdir -p "${1%/*}" && cat > "$1" && chmod "$2" "$1"'
"""Writes a file in the carrier: its path, and what may be done with it."""
DONE = ': > "$1"'
"""Says that all was carried; the path is that of `marker`."""
_WAIT = 'until [ -e "$1" ]; do sleep 0.1 || sleep 1; done'
_OF_NODE = "hostPath"
_ALIKE = ("image", "imagePullPolicy", "resources")
"""What the carrier has of its member. A pod's class of service goes by all of its containers."""


def insist_it_fits(deployment: Deployment, why: str) -> None:
    """Raise UnavailableError where a deployment needs what only a node has; `why` it has not."""
    if needs := list(beyond(deployment)):
        raise UnavailableError(
            f"it needs {' and '.join(needs)}, and {why}",
            where=deployment.name,
            hint="dunnage schema study",
        )


def beyond(deployment: Deployment) -> Iterator[str]:
    """What a deployment asks for that only a node has, each with what to write instead."""
    if deployment.network == HOST:
        yield "the network of hosts (write another `network`)"
    if deployment.endpoint in OF_HOSTS:
        yield "ports of hosts (write `endpoint: service-ip`, `node-port` or `container-dns`)"
    if deployment.storage is Storage.VOLUME:
        yield "a volume of a host (write `storage: bind` or `tmpfs`)"
    if deployment.client is ClientPlace.HOST:
        yield "a client on its host (write `client: container`)"


def marker(place: Place) -> str:
    """The file that is there once a member's files are."""
    return f"{place.home}/.carried"


def carried(stateful_set: dict[str, Any], place: Place, engine: str) -> dict[str, Any]:
    """A member's set without anything of its node, and with a container that waits for its files.

    Its directories are its pod's own, at the same paths; so is that of the engine.
    """
    made = copy.deepcopy(stateful_set)
    pod = made["spec"]["template"]["spec"]
    (member,) = pod["containers"]
    alike = {key: member[key] for key in _ALIKE if key in member}
    carrier = {
        "name": CARRIER,
        **alike,
        "command": ["sh", "-c", _WAIT, CARRIER],
        "args": [marker(place)],
        "volumeMounts": member["volumeMounts"],
    }
    pod["initContainers"] = [carrier, *pod.get("initContainers", [])]
    pod["securityContext"] = OF_PODS
    for container in (*pod["initContainers"], member):
        container["securityContext"] = OF_CONTAINERS
        container["volumeMounts"] = [_own(each, engine) for each in container["volumeMounts"]]
    pod["volumes"] = [_emptied(each) for each in pod["volumes"]]
    return made


def _own(mount: dict[str, Any], engine: str) -> dict[str, Any]:
    """The engine is one file of its host; in a pod of its own it has a directory."""
    if mount["mountPath"] != engine:
        return mount
    return {"name": mount["name"], "mountPath": str(PurePosixPath(engine).parent)}


def _emptied(volume: dict[str, Any]) -> dict[str, Any]:
    return {"name": volume["name"], "emptyDir": {}} if _OF_NODE in volume else volume
