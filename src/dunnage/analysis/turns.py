"""Load in turns: what of a run counts as one deployment's.

Deployments that live at once are driven one after the other, over and over, for less than a second
each. Whatever a machine does over seconds then meets all of them alike, and most of it cancels.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

from dunnage.model.record import HostUsage, Turn, Usage, Window

SETTLING = 0.1
"""Seconds at the beginning of a turn that do not count: caches and queues are still the other's."""
_ROUNDING = 1e-9
_CPU = ("cpu", "cpu_user", "cpu_system")
_FLOWS = (
    "disk_read",
    "disk_written",
    "received",
    "sent",
    "packets_received",
    "packets_sent",
    "inner_received",
    "inner_sent",
    "inner_packets_received",
    "inner_packets_sent",
)


class Span(NamedTuple):
    """A piece of time that counts, in Unix seconds."""

    began: float
    ended: float


def spans(turns: Iterable[Turn], name: str, settling: float = SETTLING) -> tuple[Span, ...]:
    """What counts of one deployment's turns, in their order."""
    own = [turn for turn in turns if turn.name == name and turn.ended - turn.began > settling]
    return tuple(Span(turn.began + settling, turn.ended) for turn in own)


def windows_of(
    windows: Sequence[Window], began: float, found: Sequence[Span]
) -> tuple[Window, ...]:
    """Windows that lie inside spans, put together from 0 on as if nothing lay between.

    `began` is the Unix time at which windows start to count. A window that reaches across the edge
    of a span is left out, and with it the time that it took.
    """
    kept: list[Window] = []
    at = 0.0
    for span in found:
        for window in windows:
            start = began + window.start
            inside = start >= span.began - _ROUNDING
            if inside and start + window.length <= span.ended + _ROUNDING:
                kept.append(window.model_copy(update={"start": at}))
                at += window.length
    return tuple(kept)


def idle(readings: Sequence[tuple[float, float]], taken: Sequence[Turn], name: str) -> float | None:
    """CPU seconds a second that hosts use while others have their turns.

    `readings` are (time, CPU seconds so far) by the clock of the turns. Only pieces between two
    readings count that lie in one of others' turns as a whole, a settling time after its beginning;
    None where there is no such piece.
    """
    others = [turn for turn in taken if turn.name != name]
    used = passed = 0.0
    for (first, before), (last, after) in pairwise(readings):
        if any(turn.began + SETTLING <= first and last <= turn.ended for turn in others):
            used += after - before
            passed += last - first
    return used / passed if passed > 0 else None


def own_usage(found: HostUsage, rate: float | None, outside: float, share: float) -> HostUsage:
    """What a host used for the operations that count: less what it does anyway, by their share.

    `rate` is its CPU seconds a second in others' turns, which take `outside` seconds; `share` is
    the part of its operations that count, 0 to 1.
    """
    whole = _scaled(found.whole, rate or 0.0, outside, share)
    ratio = whole.cpu / found.whole.cpu if whole.cpu is not None and found.whole.cpu else share
    return found.model_copy(
        update={
            "whole": whole,
            "units": {name: _times(used, ratio) for name, used in found.units.items()},
        }
    )


def _scaled(used: Usage, rate: float, outside: float, share: float) -> Usage:
    if not used.cpu:
        return used
    ratio = max(0.0, used.cpu - rate * outside) * share / used.cpu
    return _times(used, ratio, share)


def _times(used: Usage, cpu: float, flows: float | None = None) -> Usage:
    """A usage with its CPU time, and what flowed, times a factor each."""
    factors: Mapping[str, float] = {
        **dict.fromkeys(_CPU, cpu),
        **dict.fromkeys(_FLOWS, cpu if flows is None else flows),
    }
    changed = {
        name: value * factor
        for name, factor in factors.items()
        if (value := getattr(used, name)) is not None
    }
    return used.model_copy(update=changed)
