"""The closed-loop levels of a workload in order: what scalability is read from."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from dunnage.analysis.gather import Gathered
from dunnage.analysis.intervals import over_blocks
from dunnage.analysis.runs import Setting
from dunnage.findings.scalability.law import Floats
from dunnage.model.plan import Plan
from dunnage.model.scalability import Knee

KNEE_LEVELS = 3
"""Two levels are a line: nothing bends."""


@dataclass(frozen=True)
class Ladder:
    """One workload and its levels by threads, lightest first."""

    workload: str
    threads: tuple[int, ...]
    settings: tuple[Setting, ...]


def ladders(plan: Plan, gathered: Gathered) -> tuple[Ladder, ...]:
    """Every workload that has at least two closed levels."""
    threads = {run.level.name: run.level.threads for run in plan.runs()}
    found = []
    for workload in dict.fromkeys(setting.workload for setting in gathered.settings):
        rungs = sorted(
            (count, setting)
            for setting in gathered.settings
            if setting.workload == workload and (count := threads[setting.level]) is not None
        )
        if len(rungs) > 1:
            counts, settings = zip(*rungs, strict=True)
            found.append(Ladder(workload, counts, settings))
    return tuple(found)


def complete(
    gathered: Gathered, deployment: str, settings: Iterable[Setting], metric: str
) -> dict[int, Floats]:
    """Block → log values by level, of the blocks that have all levels."""
    logs = [gathered.logs(deployment, setting, metric) for setting in settings]
    blocks = set.intersection(*(set(found) for found in logs)) if logs else set()
    return {block: np.array([found[block] for found in logs]) for block in sorted(blocks)}


def knee(ladder: Ladder, throughput: Mapping[int, Floats]) -> Knee | None:
    """Where growth at the lightest level's rate per thread would reach the highest throughput.

    Of each block, and then over blocks; `throughput` is what `complete` gives. None below three
    levels or without a complete block.
    """
    if len(ladder.threads) < KNEE_LEVELS:
        return None
    lightest = np.log(ladder.threads[0])
    logs = {
        block: float(levels.max() - levels[0] + lightest) for block, levels in throughput.items()
    }
    threads = over_blocks(logs, "threads")
    if threads is None:
        return None
    below = [
        setting.level
        for count, setting in zip(ladder.threads, ladder.settings, strict=True)
        if count <= threads.value * (1 + 1e-9)
    ]
    return Knee(threads=threads, below=tuple(below))
