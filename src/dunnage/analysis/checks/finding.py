"""What one gate finds in one run."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple, TypeVar

from dunnage.analysis.checks.evidence import Bounds, Evidence
from dunnage.model.check import Reading, Status, Why
from dunnage.model.record import HostUsage


class Finding(NamedTuple):
    """A gate's verdict with what it saw and what it allows."""

    status: Status
    why: Why
    seen: tuple[Reading, ...] = ()
    allowed: tuple[Reading, ...] = ()
    used: float | None = None
    """How much of the bound was used: from 1 on the gate fires. None where that is no number."""


Where = TypeVar("Where")
Gate = Callable[[Evidence, Bounds], Finding]


def passes(good: bool) -> Status:
    """Valid or invalid."""
    return Status.VALID if good else Status.INVALID


def share(what: str, value: float, where: str = "") -> Reading:
    """A share of one."""
    return Reading(what=what, value=_finite(value), unit="share", where=where)


def seconds(what: str, value: float, where: str = "", member: str = "") -> Reading:
    """A time in seconds."""
    return Reading(what=what, value=_finite(value), unit="s", where=where, member=member)


def size(what: str, value: float, where: str = "") -> Reading:
    """A number of bytes."""
    return Reading(what=what, value=_finite(value), unit="B", where=where)


def count(what: str, value: float, where: str = "") -> Reading:
    """A number of things."""
    return Reading(what=what, value=_finite(value), where=where)


def _finite(value: float) -> float | str:
    """A number that a file can hold; else what it is, as a text: where nothing was answered in the
    first third of a run, it changed by `inf`."""
    return value if math.isfinite(value) else str(value)


def text(what: str, value: str, where: str = "") -> Reading:
    """What others said, as it is."""
    return Reading(what=what, value=value, where=where)


def up_to(
    bound: float, value: float, read: Callable[..., Reading], *where: str, itself: bool = True
) -> Finding:
    """Valid up to a bound; without `itself`, only below it.

    `read` makes a reading of a number, and of where it was seen.
    """
    good = value <= bound if itself else value < bound
    seen, allowed = (read(value, *where),), (read(bound),)
    return Finding(passes(good), Why.MEASURED, seen, allowed, used(value, bound))


def used(seen: float, bound: float) -> float | None:
    """Share of a bound; None where nothing at all is accepted and something was there."""
    if bound > 0:
        return max(0.0, seen / bound)
    return 0.0 if seen <= 0 else None


def largest(known: Mapping[Where, float | None]) -> tuple[Where, float] | None:
    """The largest known value with where it was seen; None where none is known."""
    found = [(where, value) for where, value in known.items() if value is not None]
    return max(found, key=lambda pair: pair[1], default=None)


def not_known(usage: Sequence[HostUsage], counter: str, *allowed: Reading) -> Finding:
    """Unknown, with the reason that a host gives for a counter that is not there."""
    return Finding(Status.UNKNOWN, Why.NOT_KNOWN, reasons(usage, counter), allowed)


def as_far_as_seen(gate: Gate) -> Gate:
    """A gate over hosts that judges those whose counters show what their members use.

    If all is well there, it is unknown with the reason what is out of sight.
    """

    def judged(evidence: Evidence, bounds: Bounds) -> Finding:
        seen = [host for host in evidence.usage if not host.unseen]
        found = gate(replace(evidence, usage=seen), bounds)
        if evidence.usage and not seen:
            return unseen(evidence.usage, *found.allowed)
        if len(seen) == len(evidence.usage) or found.status is not Status.VALID:
            return found
        return unseen(evidence.usage, *found.allowed)

    return judged


def unseen(usage: Sequence[HostUsage], *allowed: Reading) -> Finding:
    """Unknown, with the reasons why what some members use is not seen."""
    why = dict.fromkeys(reason for host in usage for reason in host.unseen.values())
    seen = tuple(text("reason", reason) for reason in why)
    return Finding(Status.UNKNOWN, Why.UNSEEN, seen, allowed)


def reasons(usage: Sequence[HostUsage], counter: str) -> tuple[Reading, ...]:
    """Why a counter is not there, by the first host that says so; empty where none does."""
    for host in usage:
        if why := host.why(counter):
            return (text("reason", why),)
    return ()
