"""What a snapshot of loaded data is of: a pure name, equal wherever the data would be."""

from __future__ import annotations

import json
from hashlib import sha256

from dunnage.model.deployment import Deployment

_DIGITS = 12


def snapshot_name(deployment: Deployment, records: int) -> str:
    """Name the data that stays of a deployment start with.

    Deployments with the same database on the same group of hosts share it, on every platform,
    network and storage. An image that a user names is other software, which reads only its own
    files: then each platform has its own snapshot.
    """
    of = {
        "database": deployment.database.model_dump(mode="json"),
        "hosts": deployment.hosts,
        "platform": deployment.platform if deployment.database.image else "",
        "records": records,
    }
    digest = sha256(json.dumps(of, sort_keys=True).encode()).hexdigest()
    return f"{deployment.database.kind}-{digest[:_DIGITS]}"
