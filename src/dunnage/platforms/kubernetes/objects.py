"""What a stay's members are made of in a Kubernetes. Pure: manifests out, as they are sent."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dunnage.clusters.pinned import pinned
from dunnage.contracts.cluster import MANAGED
from dunnage.contracts.kubernetes import CLIENT_TAINT
from dunnage.model.choices import Storage
from dunnage.model.layout import Place, Service
from dunnage.model.study import Limits
from dunnage.platforms.kubernetes import storage as stored
from dunnage.platforms.stay_names import StayNames

Manifest = dict[str, Any]
"""One object, as the API takes it and as `kubectl apply` does."""

CONTAINER = "member"
"""Name of a member's container in its pod."""
CLIENT = "client"
"""Name of the container of a pod in which clients run, and what begins the pod's name."""
CLUSTER_IP, NODE_PORT = "ClusterIP", "NodePort"
"""Types of services that have an address of their own, or a port of all nodes."""
ENVIRONMENT: Mapping[str, str] = {"LANG": "C.UTF-8"}
"""What every native process has besides `PATH` and `HOME`, which containerd sets, and to the same.
"""
_MEMBER = "dunnage.member"
_REST = "trap 'exit 0' TERM INT; while :; do sleep 3600 & wait $!; done"
"""Does nothing until it is told to end. The first process of a container never sees a signal that
it leaves to its default."""


@dataclass(frozen=True)
class Image:
    """What a container runs. One that was `imported` is never pulled."""

    name: str
    imported: bool


def namespace(stay: StayNames, further: Mapping[str, str]) -> Manifest:
    """The stay's own namespace, with further labels; whoever deletes it deletes the stay."""
    return {
        "apiVersion": "v1",
        "kind": "Namespace",
        "metadata": {"name": stay.network, "labels": {**further, **labels(stay)}},
    }


def labels(stay: StayNames, member: str | None = None) -> dict[str, str]:
    """On every object of a stay, and of a member."""
    return {**MANAGED, **stay.labels, **({} if member is None else {_MEMBER: member})}


def pod_name(member: str) -> str:
    """The name that its StatefulSet gives to a member's only pod."""
    return f"{member}-0"


def headless(member: str, stay: StayNames) -> Manifest:
    """The service that gives a member's name to its pod, from before it is ready."""
    spec = {"clusterIP": "None", "publishNotReadyAddresses": True}
    return _service(member, member, stay, spec)


def endpoint(
    member: str, ports: Mapping[str, int], stay: StayNames, kind: str, *, by_name: bool
) -> Manifest:
    """The service by whose address, or node ports, a member is reached.

    With `by_name` it leads to the port of that name, whatever number the pod has for it: that of
    the node's port is known only when the service is there.
    """
    opened = [
        {"name": name, "port": port, "targetPort": name if by_name else port}
        for name, port in ports.items()
    ]
    return _service(f"{member}-endpoint", member, stay, {"type": kind, "ports": opened})


def stateful_set(
    service: Service,
    place: Place,
    *,
    stay: StayNames,
    node: str,
    image: Image,
    argv: Sequence[str],
    engine: str,
    host_network: bool,
    published: str | None,
    storage: Storage,
    limits: Limits,
    named: bool,
) -> Manifest:
    """A set of one pod, on one node, for one member.

    Everything that is not the factor under study is what the same member has in a container of
    Docker's: command, environment, user, directory, paths and limits, and that it may lock memory.
    Its memory is requested as it is limited; without a limit of processors there is no quota. With
    `published` its ports are those of this address of its host as well. With `named` it starts only
    when its own name is known to it: some members ask for it once, when they start.
    """
    container: Manifest = {
        "name": CONTAINER,
        **_image(image),
        "command": [_plain(argv[0])],
        "args": [_plain(word) for word in argv[1:]],
        "workingDir": "/",
        "env": [
            {"name": name, "value": _plain(value)}
            for name, value in {**ENVIRONMENT, **service.env}.items()
        ],
        "ports": _ports(place, published),
        "volumeMounts": [*stored.mounts(place), _engine_mount(engine)],
        "securityContext": {
            "runAsUser": 0,
            "runAsGroup": 0,
            "capabilities": {"add": ["IPC_LOCK"]},
            "seccompProfile": {"type": "RuntimeDefault"},
        },
        **_resources(limits),
    }
    pod = {
        **_on(node),
        "hostNetwork": host_network,
        "terminationGracePeriodSeconds": grace(service),
        **({"initContainers": [_named(place.member, image, engine, limits)]} if named else {}),
        "containers": [container],
        "volumes": [*stored.volumes(place, storage), _engine_volume(engine)],
    }
    own = labels(stay, place.member)
    return {
        "apiVersion": "apps/v1",
        "kind": "StatefulSet",
        "metadata": {"name": place.member, "namespace": stay.network, "labels": own},
        "spec": {
            "replicas": 1,
            "serviceName": place.member,
            "selector": {"matchLabels": own},
            "template": {"metadata": {"labels": own}, "spec": pod},
        },
    }


def client_pod(name: str, *, stay: StayNames, node: str, image: Image, engine: str) -> Manifest:
    """A pod that rests on a client's host, and whose network clients have.

    An image of ours has the engine; any other has a shell.
    """
    container: Manifest = {
        "name": CLIENT,
        **_image(image),
        "command": [engine] if image.imported else ["sh", "-c"],
        "args": ["rest"] if image.imported else [_REST],
        "securityContext": {"runAsUser": 0, "runAsGroup": 0},
    }
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": f"{CLIENT}-{name}",
            "namespace": stay.network,
            "labels": labels(stay),
        },
        "spec": {
            **_on(node),
            "tolerations": [{"key": CLIENT_TAINT, "operator": "Exists"}],
            "terminationGracePeriodSeconds": 0,
            "containers": [container],
        },
    }


def grace(service: Service) -> int:
    """Seconds that a member has to end, as Kubernetes counts them: one at least."""
    return 1 if service.stop_signal == "KILL" else max(1, math.ceil(service.stop_grace))


def _service(name: str, member: str, stay: StayNames, spec: Mapping[str, Any]) -> Manifest:
    own = labels(stay, member)
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": name, "namespace": stay.network, "labels": own},
        "spec": {"selector": own, **spec},
    }


def _image(image: Image) -> Manifest:
    return {
        "image": image.name,
        "imagePullPolicy": "Never" if image.imported else "IfNotPresent",
    }


def _on(node: str) -> Manifest:
    """It is on one node only; nothing is mounted or told besides what is asked for."""
    return {
        "affinity": pinned(node),
        "automountServiceAccountToken": False,
        "enableServiceLinks": False,
    }


def _ports(place: Place, published: str | None) -> list[Manifest]:
    """A port of the host is one of this address of it only."""
    opened: list[Manifest] = []
    for name, addresses in place.ports.items():
        port: Manifest = {"name": name, "containerPort": addresses.bind.port}
        if published is not None:
            port |= {"hostPort": addresses.advertised.port, "hostIP": published}
        opened.append(port)
    return opened


def _resources(limits: Limits) -> Manifest:
    limited: dict[str, str] = {}
    if limits.memory is not None:
        limited["memory"] = str(int(limits.memory))
    if limits.cpus is not None:
        limited["cpu"] = f"{max(1, round(limits.cpus * 1000))}m"
    return {"resources": {"requests": limited, "limits": limited}} if limited else {}


def _named(member: str, image: Image, engine: str, limits: Limits) -> Manifest:
    """What runs before a member, until its name has an address.

    It has the member's limits: a pod's class of service goes by all of its containers.
    """
    return {
        "name": "name",
        **_image(image),
        "command": [engine],
        "args": ["resolve", member],
        "volumeMounts": [_engine_mount(engine)],
        **_resources(limits),
    }


def _engine_mount(engine: str) -> Manifest:
    """The host's engine, at the same path: it starts members whose addresses are late."""
    return {"name": "engine", "mountPath": engine, "readOnly": True}


def _engine_volume(engine: str) -> Manifest:
    return {"name": "engine", "hostPath": {"path": engine, "type": "File"}}


def _plain(word: str) -> str:
    """A word that means itself: Kubernetes would replace `$(NAME)` by a variable."""
    return word.replace("$(", "$$(")
