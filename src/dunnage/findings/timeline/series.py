"""Readings of hosts as rates and levels on an axis of time. Nothing is extrapolated."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from dunnage.analysis.windows import LEVELS, WHOLE
from dunnage.model.load import Samples
from dunnage.model.record import HostUsage
from dunnage.model.study import NO_MEMBERS

Floats = NDArray[np.float64]
RESOURCES: dict[str, tuple[bool, str, tuple[str, ...]]] = {
    "cpu.database": (True, "processors", ("cpu",)),
    "cpu.client": (False, "processors", ("cpu",)),
    "network.database": (True, "B/s", ("received", "sent")),
    "memory.database": (True, "B", ("memory_resident",)),
    "disk.database": (True, "B/s", ("disk_read", "disk_written")),
}
"""Series → whether of the database hosts or of the clients', unit, counters that are added."""


NO_SAMPLES = "some run has no samples of it"


def resource(name: str, hosts: Sequence[tuple[Samples, HostUsage]], edges: Floats) -> Floats | str:
    """One resource of one run in each interval between `edges` (Unix seconds by our clock).

    NaN where samples do not cover an interval. If a host of the kind lacks a counter or does not
    see its members, the reason of the first such host.
    """
    database, _, counters = RESOURCES[name]
    of_kind = [
        (seen, usage) for seen, usage in hosts if (usage.group not in NO_MEMBERS) == database
    ]
    parts = []
    for seen, usage in of_kind:
        for reason in usage.unseen.values():
            return reason
        for counter in counters:
            part = _readings(seen, counter, edges + usage.clock_offset)
            if part is None:
                return NO_SAMPLES
            parts.append(part)
    return np.asarray(np.sum(parts, axis=0), dtype=np.float64) if parts else NO_SAMPLES


def _readings(samples: Samples, counter: str, edges: Floats) -> Floats | None:
    read = [
        (sample.time, sample.units[WHOLE][counter])
        for sample in samples.samples
        if counter in sample.units.get(WHOLE, {})
    ]
    if len(read) < 2:
        return None
    times, values = (np.array(column) for column in zip(*read, strict=True))
    if counter in LEVELS:
        middles = (edges[:-1] + edges[1:]) / 2
        return np.asarray(
            np.interp(middles, times, values, left=np.nan, right=np.nan), dtype=np.float64
        )
    at = np.interp(edges, times, values, left=np.nan, right=np.nan)
    rates = np.diff(at) / np.diff(edges)
    return np.where(rates < 0, np.nan, rates)


def over_runs(
    runs: Iterable[Floats],
) -> tuple[tuple[float | None, ...], tuple[float | None, ...], tuple[float | None, ...]]:
    """(median, smallest, largest) of each interval over runs that know it; None where none does."""
    stacked = np.vstack(list(runs))
    known = ~np.isnan(stacked).all(axis=0)
    found = []
    for reduce in (np.nanmedian, np.nanmin, np.nanmax):
        line = np.full(stacked.shape[1], np.nan)
        line[known] = reduce(stacked[:, known], axis=0)
        found.append(tuple(None if np.isnan(v) else float(f"{v:.6g}") for v in line.tolist()))
    return found[0], found[1], found[2]
