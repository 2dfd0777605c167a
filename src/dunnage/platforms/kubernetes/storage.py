"""What a pod's data lies on. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dunnage.contracts.kubernetes import HOSTNAME
from dunnage.model.choices import Storage
from dunnage.model.layout import Place
from dunnage.platforms.stay_names import StayNames

_ROOM = "1Ti"
"""What a local volume is said to hold; nothing measures or limits it."""


def directories(place: Place, storage: Storage) -> tuple[str, ...]:
    """What is made on a member's host before it is created."""
    return (place.home, place.data) if storage is not Storage.TMPFS else (place.home,)


def mounts(place: Place) -> list[dict[str, Any]]:
    """A member's files and its data, both at the paths that they have natively."""
    return [
        {"name": "home", "mountPath": place.home},
        {"name": "data", "mountPath": place.data},
    ]


def volumes(place: Place, storage: Storage) -> list[dict[str, Any]]:
    """What is mounted there."""
    home = {"name": "home", "hostPath": {"path": place.home, "type": "Directory"}}
    match storage:
        case Storage.TMPFS:
            data: dict[str, Any] = {"emptyDir": {"medium": "Memory"}}
        case Storage.VOLUME:
            data = {"persistentVolumeClaim": {"claimName": place.member}}
        case _:
            data = {"hostPath": {"path": place.data, "type": "Directory"}}
    return [home, {"name": "data", **data}]


def claimed(
    place: Place, storage: Storage, *, stay: StayNames, hostname: str, labels: Mapping[str, str]
) -> tuple[dict[str, Any], ...]:
    """The local persistent volume of a member's data on its node, and the claim to it; if any.

    `hostname` is what the label `HOSTNAME` of its node says. The volume is no object of the stay's
    namespace: it is found by its labels.
    """
    if storage is not Storage.VOLUME:
        return ()
    volume = stay.thing(place.member)
    # The scheduler goes by a volume's node by labels alone.
    there = [{"key": HOSTNAME, "operator": "In", "values": [hostname]}]
    common = {
        "accessModes": ["ReadWriteOnce"],
        "storageClassName": "",
        "volumeMode": "Filesystem",
    }
    return (
        {
            "apiVersion": "v1",
            "kind": "PersistentVolume",
            "metadata": {"name": volume, "labels": dict(labels)},
            "spec": {
                **common,
                "capacity": {"storage": _ROOM},
                "local": {"path": place.data},
                "nodeAffinity": {"required": {"nodeSelectorTerms": [{"matchExpressions": there}]}},
                "persistentVolumeReclaimPolicy": "Retain",
                "claimRef": {"namespace": stay.network, "name": place.member},
            },
        },
        {
            "apiVersion": "v1",
            "kind": "PersistentVolumeClaim",
            "metadata": {
                "name": place.member,
                "namespace": stay.network,
                "labels": dict(labels),
            },
            "spec": {
                **common,
                "resources": {"requests": {"storage": _ROOM}},
                "volumeName": volume,
            },
        },
    )
