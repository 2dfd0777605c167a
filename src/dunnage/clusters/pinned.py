"""Pods that are pinned to a node. Pure."""

from __future__ import annotations

from typing import Any


def pinned(node: str) -> dict[str, Any]:
    """A pod's affinity by which the scheduler may choose one node only, and says why it cannot."""
    fields = [{"key": "metadata.name", "operator": "In", "values": [node]}]
    term = {"nodeSelectorTerms": [{"matchFields": fields}]}
    return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": term}}
