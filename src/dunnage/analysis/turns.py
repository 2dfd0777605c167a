"""Load in turns: what of a run counts as one deployment's.

Deployments that live at once are driven one after the other, over and over, for less than a second
each. Whatever a machine does over seconds then meets all of them alike, and most of it cancels.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from dunnage.analysis.windows import LEVELS
from dunnage.model.load import SAMPLER, SETTLING
from dunnage.model.record import HostUsage, Turn, Usage, Window

_CPU = frozenset({"cpu", "cpu_user", "cpu_system", "throttled"})


class Span(NamedTuple):
    """A piece of time that counts, in Unix seconds."""

    began: float
    ended: float


def spans(turns: Iterable[Turn], name: str, settling: float = SETTLING) -> tuple[Span, ...]:
    """What counts of one deployment's turns, in their order."""
    own = [turn for turn in turns if turn.name == name and turn.ended - turn.began > settling]
    return tuple(Span(turn.began + settling, turn.ended) for turn in own)


def windows_of(
    windows: Sequence[Window], began: float, own: Sequence[Turn], found: Sequence[Span]
) -> tuple[Window, ...]:
    """What was answered in spans, in windows about as long as before, put together from 0 on.

    `began` is the Unix time at which `windows` start to count, and `own` are the turns in which
    something could be answered: what a window holds is spread evenly over the part of it that lies
    in them. So a span counts as a whole, wherever the windows' edges lie.
    """
    times, *sums = _so_far(windows, began, own)
    if not times:
        return ()
    kept: list[Window] = []
    at, totals = 0.0, [0.0, 0.0]
    for span in found:
        number = max(1, round((span.ended - span.began) / windows[0].length))
        length = (span.ended - span.began) / number
        edges = np.linspace(span.began, span.ended, number + 1)
        for grown in zip(*(np.diff(np.interp(edges, times, each)) for each in sums), strict=True):
            after = [total + float(more) for total, more in zip(totals, grown, strict=True)]
            operations, errors = (
                round(then) - round(before) for before, then in zip(totals, after, strict=True)
            )
            kept.append(Window(start=at, length=length, operations=operations, errors=errors))
            at, totals = at + length, after
    return tuple(kept)


def _so_far(
    windows: Sequence[Window], began: float, own: Sequence[Turn]
) -> tuple[list[float], list[float], list[float]]:
    """Moments, with the operations and the errors until each."""
    times: list[float] = []
    operations: list[float] = []
    errors: list[float] = []
    answered = failed = 0.0
    for window in windows:
        start = began + window.start
        pieces = [
            (max(start, turn.began), min(start + window.length, turn.ended))
            for turn in own
            if turn.began < start + window.length and start < turn.ended
        ]
        running = sum(last - first for first, last in pieces)
        for first, last in pieces:
            share = (last - first) / running
            times += [first, last]
            operations += [answered, answered + share * window.operations]
            errors += [failed, failed + share * window.errors]
            answered, failed = operations[-1], errors[-1]
    return times, operations, errors


def idle(readings: Sequence[tuple[float, float]], taken: Sequence[Turn], name: str) -> float | None:
    """CPU seconds a second that hosts use while others have their turns.

    `readings` are (time, CPU seconds so far) by the clock of the turns. Only pieces between two
    readings count that lie as a whole between two own turns, a settling time after the first; None
    where there is no such piece.
    """
    own = [turn for turn in taken if turn.name == name]
    begins = [taken[0].began, *(turn.ended for turn in own)]
    ends = [*(turn.began for turn in own), taken[-1].ended]
    waits = [Span(begin + SETTLING, end) for begin, end in zip(begins, ends, strict=True)]
    used = passed = 0.0
    for (first, before), (last, after) in pairwise(readings):
        if any(wait.began <= first and last <= wait.ended for wait in waits):
            used += after - before
            passed += last - first
    return used / passed if passed > 0 else None


def own_usage(
    found: HostUsage, rate: Callable[[str], float | None], outside: float, share: float
) -> HostUsage:
    """What a host used for the operations that count: less what it does anyway, by their share.

    `rate` gives the CPU seconds a second of a unit in others' turns, the empty name those of the
    whole host; these turns take `outside` seconds. `share` is the part of the operations that
    count, 0 to 1.
    """

    def own(unit: str, used: Usage) -> Usage:
        anyway = (rate(unit) or 0.0) * outside
        cpu = max(0.0, used.cpu - anyway) * share / used.cpu if used.cpu else share
        known = used.model_dump(exclude_none=True, exclude=LEVELS)
        changed = {name: value * (cpu if name in _CPU else share) for name, value in known.items()}
        return used.model_copy(update=changed)

    sampler = found.sampler_cpu
    if sampler is not None:
        sampler = max(0.0, sampler - (rate(SAMPLER) or 0.0) * outside) * share
    return found.model_copy(
        update={
            "whole": own("", found.whole),
            "units": {name: own(name, used) for name, used in found.units.items()},
            "sampler_cpu": sampler,
        }
    )
