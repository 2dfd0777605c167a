"""Gates of a made-up run, and a difference of a made-up stay."""

from __future__ import annotations

from dunnage.model.check import CheckResult, Reading, Status, Why
from dunnage.model.parity import Aspect, Cause, Difference

OTHER_LIBRARY = Difference(
    roles=("primary", "replica"),
    aspect=Aspect.MAPPED,
    name="/usr/lib/libc.so.6",
    baseline="3f9a01c2d4e5",
    deployment="b07e44a1f233",
    cause=Cause.UNDECLARED,
)

CRASHED = CheckResult(
    check="steal",
    status=Status.UNKNOWN,
    why=Why.CRASHED,
    seen=(Reading(what="error", value="ZeroDivisionError('by accident')"),),
)


def spoilt_by(
    gate: str, seen: tuple[Reading, ...] = (), allowed: tuple[Reading, ...] = ()
) -> CheckResult:
    return CheckResult(
        check=gate, status=Status.INVALID, why=Why.MEASURED, seen=seen, allowed=allowed
    )


def unseen_by(gate: str) -> CheckResult:
    """A gate that could not judge what nobody sees."""
    seen = (Reading(what="reason", value="it runs elsewhere"),)
    return CheckResult(check=gate, status=Status.UNKNOWN, why=Why.UNSEEN, seen=seen)
