"""Every gate over all runs: how often it fired, and how near the others came."""

from __future__ import annotations

from collections.abc import Sequence

from dunnage.analysis.checks import CONTROL
from dunnage.analysis.gather import STEADY, Gathered
from dunnage.analysis.groups import grouped
from dunnage.model.analysis import GateSummary
from dunnage.model.check import CheckResult, Status


def gates(gathered: Gathered) -> tuple[GateSummary, ...]:
    """One summary for each gate, in the order in which runs pass them.

    What the study judges of a run beside its others counts for the gate of that name, and what a
    deployment does by itself has spoilt no run.
    """
    checks = (check for record in gathered.records.values() for check in record.checks)
    beside = {STEADY: len(gathered.unsteady), CONTROL: -gathered.excused}
    return tuple(
        _summary(name, found, beside.get(name, 0))
        for name, found in grouped(checks, lambda check: check.check).items()
    )


def _summary(name: str, every: Sequence[CheckResult], beside: int) -> GateSummary:
    passed = [check for check in every if check.status is Status.VALID]
    near = max((c for c in passed if c.used is not None), key=lambda c: c.used or 0.0, default=None)
    return GateSummary(
        gate=name,
        judged=len(every),
        fired=sum(check.status is Status.INVALID for check in every) + beside,
        unknown=sum(check.status is Status.UNKNOWN for check in every),
        nearest=None if near is None else near.used,
        example=near or every[0],
        unseen_runs=sum(check.unseen for check in every),
        unseen=tuple(
            dict.fromkeys(
                str(reading.value) for check in every if check.unseen for reading in check.seen
            )
        ),
    )
