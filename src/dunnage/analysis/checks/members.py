"""The gate of the deployment itself: whether all of its members were there to the end."""

from __future__ import annotations

from collections.abc import Iterator

from dunnage.analysis.checks.evidence import Bounds, Evidence, MemberState
from dunnage.analysis.checks.finding import Finding, count, size
from dunnage.model.check import Reading, Status, Why


def members(evidence: Evidence, bounds: Bounds) -> Finding:
    """Whether every member ran to the end, was ready then, and had room for its data.

    Where copies are on other members, operations may go on without one: then no client has an
    error to tell of it.
    """
    allowed = (size("room", bounds.room),)
    if wrong := tuple(each for state in evidence.members for each in _wrong(state, bounds)):
        return Finding(Status.INVALID, Why.MEASURED, wrong, allowed)
    return Finding(Status.VALID, Why.MEASURED, (count("ran", len(evidence.members)),), allowed)


def _wrong(state: MemberState, bounds: Bounds) -> Iterator[Reading]:
    for what, told in (("ended", state.ended), ("silent", state.silent)):
        if told:
            yield Reading(what=what, value=told, where=state.host, member=state.member)
    if state.room is not None and state.room < bounds.room:
        yield Reading(
            what="room", value=state.room, unit="B", where=state.host, member=state.member
        )
