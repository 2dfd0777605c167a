"""What stays have in someone else's Kubernetes. Nothing is removed: a study may be using it."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from lightkube.resources.core_v1 import Namespace, PersistentVolume

from dunnage.clusters.context import Context
from dunnage.contracts.cluster import MANAGED, OF_A_STAY, StaySeen
from dunnage.kubernetes_api import connect


def stays(name: str, kubeconfig: Path | None) -> tuple[StaySeen, ...]:
    """The stays that have something in the cluster of a context, the oldest first.

    Raises UnavailableError with one reason why it cannot be asked.
    """
    context = Context(name, kubeconfig)
    with context.spoken(), closing(connect(context.api)) as client:
        objects: list[Any] = [
            *client.list(Namespace, labels={**MANAGED}),
            *client.list(PersistentVolume, labels={**MANAGED}),
        ]
    found: dict[str, list[Any]] = {}
    for each in objects:
        found.setdefault(str((each.metadata.labels or {}).get(OF_A_STAY, "")), []).append(each)
    seen = (_seen(context, stay, mine) for stay, mine in found.items() if stay)
    return tuple(sorted(seen, key=lambda each: (each.since, each.stay)))


def _seen(context: Context, stay: str, objects: Sequence[Any]) -> StaySeen:
    kinds: dict[str, list[str]] = {}
    for each in objects:
        kinds.setdefault(type(each).__name__.lower(), []).append(str(each.metadata.name))
    times = [each.metadata.creationTimestamp for each in objects]
    since = min((each for each in times if each is not None), default=None)
    chosen = shlex.join(["--selector", f"{OF_A_STAY}={stay}"])
    return StaySeen(
        stay=stay,
        since="" if since is None else f"{since:%Y-%m-%d %H:%M:%S} UTC",
        objects={kind: tuple(names) for kind, names in kinds.items()},
        removing=context.asking(f"delete {','.join(kinds)} {chosen}"),
    )
