"""The negative control of a stay: what no deployment can change, measured before it is there."""

from __future__ import annotations

import json
from collections.abc import Mapping

from dunnage.contracts import Host
from dunnage.errors import StayError


def control(client: Host) -> Mapping[str, float]:
    """Rates of arithmetic and of a loopback exchange on a client's host, in 1/s.

    Raises StayError with what the engine said.
    """
    completed = client.run([client.engine, "control"], timeout=30.0, unit="control")
    if completed.code != 0:
        raise StayError(
            f"the negative control failed: {completed.stderr.strip()}", where=client.name
        )
    return {name: float(rate) for name, rate in json.loads(completed.stdout).items()}
