"""Runs of open loads, and what one gate says of a run."""

from __future__ import annotations

from typing import Any

from analysis_cases import host, latency, measurement

from dunnage.analysis.checks import (
    Evidence,
    judge,
)
from dunnage.model.check import CheckResult, Why
from dunnage.model.record import HostUsage, Measurement, OperationStats, Usage
from dunnage.wording.checks import _SEEN


def gate(name: str, given: Evidence) -> CheckResult:
    """One gate's result; all of them can be kept in a file, and have words of their own."""
    checks = judge(given)
    for each in checks:
        assert CheckResult.model_validate_json(each.model_dump_json()) == each
        assert (each.check, each.why) in _SEEN or each.why in {
            Why.NOT_KNOWN,
            Why.UNSEEN,
            Why.CRASHED,
        }
    return next(check for check in checks if check.check == name)


def open_run(answered: int, **changed: Any) -> Measurement:
    stats = OperationStats(count=answered, errors={}, service=latency(), response=latency())
    return measurement(operations={"all": stats}, offered=1000.0, **changed)


def director(whole: Usage) -> HostUsage:
    """A host that directs others, for the 4 s of a measurement."""
    return host("control-1", group="control", whole=whole)
