"""Whether a time line is flat: the windows of a run, made large enough to be judged.

How far throughput moves within a run by chance is the machine's affair, so a run is judged beside
all others of its study under the same workload and level, and not by a bound of ours. Where one
deployment moves more often than the others, this is a part of what it costs, such as work that one
of its programs does every few seconds: to leave such runs out would spare it this cost.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import median

from dunnage.analysis.distributions import t_quantile
from dunnage.analysis.groups import grouped
from dunnage.analysis.schedule import measured
from dunnage.model.load import STEADY_OPERATIONS, STEADY_WINDOWS
from dunnage.model.record import HostUsage, Window
from dunnage.model.study import NO_MEMBERS

MINIMUM_RUNS = 12
"""Fewer runs tell nothing of how far runs move by chance."""
FALSE_ALARM = 0.01
"""Chance that some run of a setting is called unsteady though none is."""
LEAST = 0.10
"""Movement that a run may always have: on a very quiet machine less would be called too much."""
_CONSISTENT = 1.4826
"""Standard deviations of a normal distribution in one median absolute deviation."""
_EFFICIENCY = 0.37
"""A median absolute deviation tells a spread as well as the standard deviation of so much of the
values (Rousseeuw and Croux 1993, Journal of the American Statistical Association 88, 1273–1283)."""


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
    joined = max(1, math.ceil(STEADY_OPERATIONS * len(whole) / operations))
    groups = [whole[i : i + joined] for i in range(0, len(whole) - joined + 1, joined)]
    if len(groups) < STEADY_WINDOWS:
        return None
    third = len(groups) // 3
    return Flatness(
        windows=len(groups),
        first=_rate(groups[:third]),
        last=_rate(groups[-third:]),
        empty=sum(not any(window.operations for window in group) for group in groups),
    )


@dataclass(frozen=True)
class Moved:
    """By how much a run moved, and its place in the study."""

    run: str
    deployment: str
    change: float
    """Last third over first third, minus one."""


@dataclass(frozen=True)
class Usual:
    """By how much runs of one setting move by chance."""

    runs: int
    spread: float
    """Standard deviation on logarithms, by the median absolute deviation."""
    most: float
    """A run that moved by more, on logarithms and from its deployment's median, is not steady."""


def usual(moved: Sequence[Moved]) -> Usual | None:
    """How far the runs of one setting move; None where they are too few to tell.

    Each is held against the median of its own deployment, so that what a deployment does in every
    run, such as warming up, is told of the deployment and spoils no run. The bound is where
    Student's t puts `FALSE_ALARM` for all runs together (Bonferroni), 10 % at least.
    """
    left = _left(moved)
    if len(left) < MINIMUM_RUNS:
        return None
    spread = _CONSISTENT * median(abs(each) for each in left.values())
    freedom = max(1, round(_EFFICIENCY * len(left)))
    beyond = t_quantile(1 - FALSE_ALARM / len(left) / 2, freedom) * spread
    return Usual(len(left), spread, max(beyond, math.log1p(LEAST)))


def unsteady(moved: Sequence[Moved]) -> dict[str, Usual]:
    """Runs that moved by more than runs of this setting do; none where nobody can tell."""
    known = usual(moved)
    if known is None:
        return {}
    return {run: known for run, left in _left(moved).items() if abs(left) > known.most}


def _left(moved: Sequence[Moved]) -> dict[str, float]:
    """Run → its log movement less its deployment's median."""
    left: dict[str, float] = {}
    known = (each for each in moved if each.change > -1)
    for own in grouped(known, lambda each: each.deployment).values():
        logs = {each.run: math.log1p(each.change) for each in own}
        middle = median(logs.values())
        left |= {run: log - middle for run, log in logs.items()}
    return left


def speed_change(usage: Iterable[HostUsage]) -> float:
    """How much faster the members' hosts were in the last third than in the first; 0 if unknown.

    It is measured beside the database and not by it, so what it explains of a time line is no
    unsteadiness of the deployment.
    """
    known = [
        host.machine.speed_change
        for host in usage
        if host.group not in NO_MEMBERS and host.machine.speed_change is not None
    ]
    return sum(known) / len(known) if known else 0.0


def _rate(groups: Sequence[Sequence[Window]]) -> float:
    length = sum(window.length for group in groups for window in group)
    return sum(window.operations for group in groups for window in group) / length
