"""Whether a time line is flat: the windows of a run, made large enough to be judged."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import median

from dunnage.analysis.schedule import measured
from dunnage.model.record import HostUsage, Window
from dunnage.model.study import CLIENT_GROUP

MINIMUM_WINDOWS = 6
"""Two a third; fewer say nothing of a trend."""
_OPERATIONS = 10
"""Operations that a window must hold on average, or an empty one is no news."""


@dataclass(frozen=True)
class Flatness:
    """What a time line looks like over the measured window."""

    windows: int
    first: float
    """Operations per second in the first third."""
    last: float
    """Operations per second in the last third."""
    empty: int
    """Windows without an answer."""

    @property
    def change(self) -> float:
        """Last third over first third, minus one; infinite when nothing was answered at first."""
        return self.last / self.first - 1 if self.first > 0 else math.inf


def flatness(windows: Sequence[Window]) -> Flatness | None:
    """Compare the thirds of the measured windows; None when too few of them can be judged.

    Neighbouring windows are joined until they hold ten operations on average.
    """
    line = measured(windows)
    if not line:
        return None
    usual = median(window.length for window in line)
    whole = [window for window in line if window.length >= usual / 2 > 0]
    operations = sum(window.operations for window in whole)
    if not operations:
        return Flatness(len(whole), 0.0, 0.0, len(whole)) if whole else None
    joined = max(1, math.ceil(_OPERATIONS * len(whole) / operations))
    groups = [whole[i : i + joined] for i in range(0, len(whole) - joined + 1, joined)]
    if len(groups) < MINIMUM_WINDOWS:
        return None
    third = len(groups) // 3
    return Flatness(
        windows=len(groups),
        first=_rate(groups[:third]),
        last=_rate(groups[-third:]),
        empty=sum(not any(window.operations for window in group) for group in groups),
    )


def speed_change(usage: Iterable[HostUsage]) -> float:
    """How much faster the members' hosts were in the last third than in the first; 0 if unknown.

    It is measured beside the database and not by it, so what it explains of a time line is no
    unsteadiness of the deployment.
    """
    known = [
        host.machine.speed_change
        for host in usage
        if host.group != CLIENT_GROUP and host.machine.speed_change is not None
    ]
    return sum(known) / len(known) if known else 0.0


def _rate(groups: Sequence[Sequence[Window]]) -> float:
    length = sum(window.length for group in groups for window in group)
    return sum(window.operations for group in groups for window in group) / length
