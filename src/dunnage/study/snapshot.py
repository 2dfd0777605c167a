"""What a snapshot of loaded data is of: a pure name, equal wherever the data would be."""

from __future__ import annotations

import json
from hashlib import sha256

from dunnage.model.deployment import Deployment

_DIGITS = 12


def snapshot_name(deployment: Deployment, records: int) -> str:
    """Name the data that stays of a deployment start with.

    Deployments with the same database on the same group of hosts share it, whatever else they
    differ in: no platform, network or storage has a copy that others do not have. Where containers
    run an image that a user named, other software runs on each platform, and it reads its own files
    only.
    """
    of = {
        "database": deployment.database.model_dump(mode="json"),
        "hosts": deployment.hosts,
        "platform": deployment.platform if deployment.database.image else "",
        "records": records,
    }
    digest = sha256(json.dumps(of, sort_keys=True).encode()).hexdigest()
    return f"{deployment.database.kind}-{digest[:_DIGITS]}"
