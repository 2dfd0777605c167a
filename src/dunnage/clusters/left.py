"""What Dunnage has in someone else's Kubernetes, whoever uses it, and its removal."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from lightkube import ApiError, Client
from lightkube.resources.core_v1 import Namespace, PersistentVolume, Pod

from dunnage.clusters.context import Context
from dunnage.clusters.lost_pods import LostPods
from dunnage.clusters.owned import owner_in
from dunnage.clusters.removal import take_away
from dunnage.contracts.cluster import (
    MANAGED,
    OF_A_STAY,
    OF_A_TESTBED,
    LeftSeen,
    StaySeen,
    TestbedSeen,
)
from dunnage.kubernetes_api import FORBIDDEN, connect, explanation, status_of


def left(name: str, kubeconfig: Path | None) -> LeftSeen:
    """All that there is in the cluster of a context, the oldest first.

    Raises UnavailableError with one reason why it cannot be asked.
    """
    context = Context(name, kubeconfig)
    with context.spoken(), closing(connect(context.api)) as client:
        return found(client, context)


def remove(
    name: str, kubeconfig: Path | None, used: Callable[[TestbedSeen], bool]
) -> tuple[LeftSeen, LeftSeen]:
    """Remove what nobody uses; returns what that was, and what is left.

    `used` judges testbeds, and a stay is used as its testbed is. Of a stay without one nobody knows
    whether it is used, so it is left. Raises UnavailableError as `left` does, and where something
    does not go.
    """
    context = Context(name, kubeconfig)
    with context.spoken(), closing(connect(context.api)) as client:
        there = found(client, context)
        unused, kept = parted(there, used)
        remove_unused(client, unused, context)
        return unused, kept


def found(client: Client, context: Context) -> LeftSeen:
    """The same by a client; raises `Refused`.

    Volumes are asked for first: whatever testbed they are of is there by then, if it lives. Where
    its user may not list them, no stay of that user has any.
    """
    volumes, unread = _volumes(client)
    spaces = list(client.list(Namespace, labels={**MANAGED}))
    agents = [each for each in spaces if not _label(each, OF_A_STAY)]
    stays = _stays(context, (*spaces, *volumes))
    return LeftSeen(stays, testbeds(client, agents, context), unread)


def _volumes(client: Client) -> tuple[list[PersistentVolume], str]:
    """Those of all stays, or why they may not be read."""
    try:
        return list(client.list(PersistentVolume, labels={**MANAGED})), ""
    except ApiError as refusal:
        if status_of(refusal) != FORBIDDEN:
            raise
        return [], explanation(refusal)


def parted(there: LeftSeen, used: Callable[[TestbedSeen], bool]) -> tuple[LeftSeen, LeftSeen]:
    """What nobody uses, and the rest."""
    busy = {"", *(each.testbed for each in there.testbeds if used(each))}

    def those(*, kept: bool) -> LeftSeen:
        return replace(
            there,
            stays=tuple(each for each in there.stays if (each.testbed in busy) is kept),
            testbeds=tuple(each for each in there.testbeds if (each.testbed in busy) is kept),
        )

    return those(kept=False), those(kept=True)


def remove_unused(client: Client, unused: LeftSeen, context: Context) -> None:
    """Delete all of it, stays before what they live on, and wait until it is gone.

    Pods in it whose nodes are not ready or gone are only forgotten. Raises UnavailableError where
    something stays, and `Refused`.
    """
    spaces = [name for each in unused.stays for name in each.objects.get("namespace", ())]
    volumes = [name for each in unused.stays for name in each.objects.get("persistentvolume", ())]
    testbeds = [each.testbed for each in unused.testbeds]
    forgetting = LostPods(client, spaces).forget
    take_away(client, Namespace, spaces, context.asking, meanwhile=forgetting)
    take_away(client, PersistentVolume, volumes, context.asking)
    forgetting = LostPods(client, testbeds).forget
    take_away(client, Namespace, testbeds, context.asking, meanwhile=forgetting)


def testbeds(
    client: Client, namespaces: Iterable[Namespace], context: Context
) -> tuple[TestbedSeen, ...]:
    """Those that have these namespaces, the oldest first; raises `Refused`."""
    pods: dict[str, dict[str, str]] = {}
    for pod in client.list(Pod, namespace="*", labels={**MANAGED}):
        if (testbed := _label(pod, OF_A_TESTBED)) and not _label(pod, OF_A_STAY):
            node = str((pod.spec and pod.spec.nodeName) or _name(pod))
            pods.setdefault(testbed, {})[node] = _phase(pod)
    seen = (_testbed(each, pods, context) for each in namespaces if _label(each, OF_A_TESTBED))
    return tuple(sorted(seen, key=lambda each: (each.since, each.testbed)))


def _testbed(
    namespace: Namespace, pods: dict[str, dict[str, str]], context: Context
) -> TestbedSeen:
    testbed = _label(namespace, OF_A_TESTBED)
    study, owner, nodes = owner_in((namespace.metadata and namespace.metadata.annotations) or {})
    chosen = shlex.join(["--selector", f"{OF_A_TESTBED}={testbed}"])
    return TestbedSeen(
        testbed=testbed,
        study=study,
        since=_since([namespace]),
        owner=owner,
        agents=pods.get(testbed, {}),
        removing=context.asking(f"delete namespace {chosen}"),
        age=_age(namespace),
        nodes=nodes,
    )


def _stays(context: Context, objects: Sequence[Any]) -> tuple[StaySeen, ...]:
    of_stay: dict[str, list[Any]] = {}
    for each in objects:
        of_stay.setdefault(_label(each, OF_A_STAY), []).append(each)
    seen = (_stay(context, stay, mine) for stay, mine in of_stay.items() if stay)
    return tuple(sorted(seen, key=lambda each: (each.since, each.stay)))


def _stay(context: Context, stay: str, objects: Sequence[Any]) -> StaySeen:
    kinds: dict[str, list[str]] = {}
    for each in objects:
        kinds.setdefault(type(each).__name__.lower(), []).append(_name(each))
    chosen = shlex.join(["--selector", f"{OF_A_STAY}={stay}"])
    return StaySeen(
        stay=stay,
        since=_since(objects),
        objects={kind: tuple(names) for kind, names in kinds.items()},
        removing=context.asking(f"delete {','.join(kinds)} {chosen}"),
        testbed=next(filter(None, (_label(each, OF_A_TESTBED) for each in objects)), ""),
    )


def _since(objects: Iterable[Any]) -> str:
    times = [each.metadata.creationTimestamp for each in objects]
    since = min((each for each in times if each is not None), default=None)
    return "" if since is None else f"{since:%Y-%m-%d %H:%M:%S} UTC"


def _age(thing: Any) -> float | None:
    made = thing.metadata.creationTimestamp
    return None if made is None else (datetime.now(UTC) - made).total_seconds()


def _label(thing: Any, label: str) -> str:
    return str((thing.metadata.labels or {}).get(label, ""))


def _name(thing: Any) -> str:
    return str(thing.metadata.name)


def _phase(pod: Pod) -> str:
    return str((pod.status and pod.status.phase) or "Pending")
