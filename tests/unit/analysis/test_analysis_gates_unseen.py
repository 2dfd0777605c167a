"""Gates over hosts that nobody sees: what cannot be judged, and what is judged all the same."""

from __future__ import annotations

from typing import Any

import pytest
from analysis_cases import evidence, host, measurement
from gate_cases import gate

from dunnage.analysis.checks import (
    against,
    judge,
    status,
)
from dunnage.analysis.windows import uncharged
from dunnage.model.check import Status, Why
from dunnage.model.record import MachineUsage, Usage
from dunnage.wording.checks import allowed, failed, seen

ELSEWHERE = uncharged(host(), {"redis-1": "it runs elsewhere"})

UNJUDGED = {"swap", "steal", "other load", "samples", "throttled"}


def test_what_nobody_sees_is_unknown_with_the_reason_and_the_run_is_valid() -> None:
    for one_machine in (True, False):
        usage = (ELSEWHERE, host("client-1", "client"))
        checks = judge(evidence(usage=usage, one_machine=one_machine))
        unjudged = [check for check in checks if check.status is not Status.VALID]
        assert {check.check for check in unjudged} == UNJUDGED
        assert {(check.status, check.why) for check in unjudged} == {(Status.UNKNOWN, Why.UNSEEN)}
        assert {seen(check) for check in unjudged} == {"cannot be judged: it runs elsewhere"}
        assert all(allowed(check) for check in unjudged)
        assert status(checks) is Status.VALID


def test_a_run_of_which_no_host_is_seen_is_valid_with_the_reason() -> None:
    """As where a cluster lets nobody see its nodes, the client's among them."""
    client = uncharged(host("client-1", "client"), {"": "the cluster says no"})
    for one_machine in (True, False):
        checks = judge(evidence(usage=(ELSEWHERE, client), one_machine=one_machine))
        unjudged = {check.check for check in checks if check.status is not Status.VALID}
        assert unjudged == UNJUDGED
        assert {check.why for check in checks if check.check in UNJUDGED} == {Why.UNSEEN}
        assert status(checks) is Status.VALID
    nobody = {one.check: one for one in judge(evidence(usage=()))}
    assert nobody["samples"].why is Why.NOTHING


def test_what_nobody_sees_does_not_stand_against_a_run_that_fails_for_another_reason() -> None:
    usage = (ELSEWHERE, host("client-1", "client"))
    checks = judge(evidence(usage=usage, measurement=measurement(client_busy=0.98)))
    assert [check.check for check in against(checks)] == ["client"]
    assert failed(checks) == f"client: {seen(*against(checks))}"


@pytest.mark.parametrize(
    ("name", "client"),
    [
        ("swap", {"whole": Usage(cpu=0.4, swap=1.0)}),
        ("steal", {"machine": MachineUsage(processors=1.0, steal=0.2)}),
        ("other load", {"machine": MachineUsage(processors=1.0, busy=0.9)}),
        ("samples", {"samples": 3}),
        ("throttled", {"whole": Usage(cpu=0.4, throttled=1.0)}),
    ],
)
def test_what_is_seen_of_another_host_still_spoils_a_run(name: str, client: dict[str, Any]) -> None:
    found = gate(name, evidence(usage=(ELSEWHERE, host("client-1", "client", **client))))
    assert found.status is Status.INVALID


def test_a_counter_that_is_not_known_of_a_host_that_is_seen_leaves_the_run_unknown() -> None:
    checks = judge(evidence(usage=(ELSEWHERE, host("client-1", "client", machine=MachineUsage()))))
    assert status(checks) is Status.UNKNOWN
