"""The annotation by which a testbed in a cluster tells of its study, of its process, and for which
nodes it was made. Pure."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping

from dunnage.contracts.cluster import OWNED_BY, Owner


def owned(study: str, owner: Owner, nodes: Iterable[str]) -> dict[str, str]:
    """The annotation that `owner_in` reads back."""
    process = {"machine": owner.machine, "boot": owner.boot, "pid": owner.pid, "born": owner.born}
    return {OWNED_BY: json.dumps({"study": study, **process, "nodes": [*nodes]})}


def owner_in(annotations: Mapping[str, str]) -> tuple[str, Owner | None, tuple[str, ...]]:
    """The study, the process, and the nodes; somebody may have written anything there."""
    try:
        told = json.loads(annotations[OWNED_BY])
        own = Owner(str(told["machine"]), str(told["boot"]), int(told["pid"]), int(told["born"]))
        return str(told["study"]), own, tuple(map(str, told["nodes"]))
    except (KeyError, ValueError, TypeError):
        return "", None, ()
