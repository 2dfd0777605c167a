"""The annotation by which a testbed in a cluster tells of its study, and of its process. Pure."""

from __future__ import annotations

import json
from collections.abc import Mapping

from dunnage.contracts.cluster import OWNED_BY, Owner


def owned(study: str, owner: Owner) -> dict[str, str]:
    """The annotation that `owner_in` reads back."""
    told = {"study": study, "machine": owner.machine, "boot": owner.boot}
    return {OWNED_BY: json.dumps({**told, "pid": owner.pid, "born": owner.born})}


def owner_in(annotations: Mapping[str, str]) -> tuple[str, Owner | None]:
    """The study, and the process; somebody may have written anything there."""
    try:
        told = json.loads(annotations[OWNED_BY])
        own = Owner(str(told["machine"]), str(told["boot"]), int(told["pid"]), int(told["born"]))
        return str(told["study"]), own
    except (KeyError, ValueError, TypeError):
        return "", None
