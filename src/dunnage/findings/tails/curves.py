"""Latency distributions over the valid runs of a deployment: histograms added, never averaged."""

from __future__ import annotations

from collections.abc import Sequence

from dunnage.analysis.runs import Setting
from dunnage.model.analysis import LatencyCurve
from dunnage.model.histogram import curve, merged
from dunnage.model.metrics import KINDS, OPERATIONS


def curves(deployment: str, setting: Setting, logs: Sequence[bytes]) -> list[LatencyCurve]:
    """One curve for each kind of latency that the logs hold, over all operation types."""
    found = []
    for kind in KINDS:
        every = (f"{name}.{kind}" for name in OPERATIONS)
        tags = [tag for tag in every if any(f"Tag={tag},".encode() in log for log in logs)]
        if not tags:
            continue
        total = merged(logs, *tags)
        found.append(
            LatencyCurve(
                deployment=deployment,
                workload=setting.workload,
                level=setting.level,
                kind=kind,
                points=curve(total),
                count=total.get_total_count(),
                maximum=total.get_max_value() * 1e-9,
            )
        )
    return found
