"""Every gate by its name, and what a run is by all of them."""

from __future__ import annotations

from collections.abc import Iterable

from dunnage.analysis.checks import load, machine
from dunnage.analysis.checks.evidence import Bounds, Evidence
from dunnage.analysis.checks.finding import Finding, Gate, as_far_as_seen, text
from dunnage.analysis.checks.members import members
from dunnage.model.check import CheckResult, Status, Why

CLOCK = "clock"
"""The gate that every other one leans on: without it nobody knows which samples belong to a run."""

CONTROL = "control"
"""The gate that judges the hosts which direct others."""

GATES: dict[str, Gate] = {
    "members": members,
    "errors": load.errors,
    "client": load.client,
    "schedule": load.schedule,
    "search": load.search,
    "steady": load.steady,
    "swap": as_far_as_seen(machine.swap),
    "steal": as_far_as_seen(machine.steal),
    "other load": machine.other_load,
    "iowait": machine.iowait,
    "samples": as_far_as_seen(machine.samples),
    "connections": load.connections,
    "throttled": as_far_as_seen(machine.throttled),
    "slowdown": load.slowdown,
    "parts": load.parts,
    "duration": load.length,
    "idle": machine.idle,
    CONTROL: machine.control,
    CLOCK: machine.clock,
}
"""Every gate by the name that reports show."""

DISTURBANCES = frozenset({"steal", "other load", CLOCK})
"""Gates that fail for reasons outside the testbed. Only these let a run be measured again: any
other gate looks at what the deployment itself did, and would select by outcome."""


def judge(evidence: Evidence, bounds: Bounds | None = None) -> tuple[CheckResult, ...]:
    """Pass a run through every gate. A gate that crashes is unknown and says with what."""
    results = []
    for name, gate in GATES.items():
        try:
            found = gate(evidence, bounds or Bounds())
        except Exception as error:
            found = Finding(Status.UNKNOWN, Why.CRASHED, (text("error", repr(error)),))
        results.append(CheckResult(check=name, **found._asdict()))
    return tuple(results)


def against(checks: Iterable[CheckResult]) -> tuple[CheckResult, ...]:
    """What stands against a run: the gates that it did not pass.

    Gates that could not judge what nobody sees are left out: they would say the same of every run.
    """
    return tuple(check for check in checks if check.status is not Status.VALID and not check.unseen)


def status(checks: Iterable[CheckResult]) -> Status:
    """One invalid gate makes a run invalid; else one unknown gate, or none at all, unknown.

    As in `against`, gates that could not judge what nobody sees are left out.
    """
    found = {check.status for check in checks if not check.unseen}
    if Status.INVALID in found:
        return Status.INVALID
    return Status.VALID if found == {Status.VALID} else Status.UNKNOWN


def disturbed(checks: Iterable[CheckResult]) -> bool:
    """Whether a run was disturbed from outside.

    Whatever other gates found besides may only follow from that, and to ask for them, too, would
    select by outcome: a run is made again for what the machine suffered, and for nothing else.
    """
    return any(check.status is Status.INVALID and check.check in DISTURBANCES for check in checks)
