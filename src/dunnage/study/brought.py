"""What the hosts of a testbed have already, filled in where a study says nothing of it. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dunnage.model.offer import Offer


def with_brought(data: Any, offer: Offer) -> Any:
    """A study's data with the kind of each substrate that its testbed brings.

    What is malformed is left as it is: others say so.
    """
    testbed = data.get("testbed") if isinstance(data, Mapping) else None
    kind = testbed.get("kind") if isinstance(testbed, Mapping) else None
    known = offer.testbeds.get(kind) if isinstance(kind, str) else None
    if known is None or not known.brings:
        return data
    said = data.get("substrate", {})
    if not isinstance(said, Mapping):
        return data
    filled = dict(said)
    for family, brought in known.brings.items():
        own = filled.get(family, {})
        if isinstance(own, Mapping):
            filled[family] = {"kind": brought, **own}
    return {**data, "substrate": filled}
