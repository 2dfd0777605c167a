"""Every gate, on both sides of its bound."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from analysis_cases import OPEN, evidence, host, measurement, order, windows
from gate_cases import director, gate, open_run

from dunnage.analysis.checks import (
    GATES,
    Bounds,
    MemberState,
    disturbed,
    judge,
    status,
)
from dunnage.model.check import CheckResult, Status, Why
from dunnage.model.choices import Phase
from dunnage.model.record import MachineUsage, Usage
from dunnage.wording.checks import alike, allowed, seen


def test_a_good_run_passes_every_gate() -> None:
    checks = judge(evidence())
    assert [check.check for check in checks] == list(GATES)
    assert {check.status for check in checks} == {Status.VALID}, checks
    assert status(checks) is Status.VALID
    assert all(seen(check) and allowed(check) for check in checks)


SPOILED: list[tuple[str, dict[str, Any], Status]] = [
    ("members", {"members": (MemberState("redis-1", "db-1"),)}, Status.VALID),
    (
        "members",
        {"members": (MemberState("redis-1", "db-1", room=Bounds().room),)},
        Status.VALID,
    ),
    (
        "members",
        {"members": (MemberState("redis-1", "db-1", room=Bounds().room - 1),)},
        Status.INVALID,
    ),
    ("client", {"measurement": measurement(client_busy=0.979)}, Status.VALID),
    ("client", {"measurement": measurement(client_busy=0.98)}, Status.INVALID),
    (
        "client",
        {"order": order(OPEN), "measurement": open_run(4000, client_busy=0.95)},
        Status.INVALID,
    ),
    (
        "client",
        {"order": order(OPEN), "measurement": open_run(4000, client_limited=0.05)},
        Status.VALID,
    ),
    (
        "client",
        {"order": order(OPEN), "measurement": open_run(4000, client_limited=0.051)},
        Status.INVALID,
    ),
    (
        "client",
        {"order": order(OPEN), "measurement": open_run(4000, client_busy=0.95, client_limited=0.0)},
        Status.INVALID,
    ),
    ("client", {"measurement": measurement(client_limited=0.3)}, Status.VALID),
    (
        "steady",
        {"measurement": measurement(windows=windows([200] * 10 + [310] * 10))},
        Status.VALID,
    ),
    (
        "steady",
        {"measurement": measurement(windows=windows([200] * 9 + [0] + [200] * 10))},
        Status.INVALID,
    ),
    ("steady", {"measurement": measurement(windows=windows([200] * 5))}, Status.UNKNOWN),
    ("steady", {"measurement": measurement(windows=())}, Status.UNKNOWN),
    (
        "steady",
        {"measurement": measurement(windows=()), "order": order(phase=Phase.LOAD)},
        Status.VALID,
    ),
    ("swap", {"usage": (host(whole=Usage(cpu=1, throttled=0, swap=4096)),)}, Status.INVALID),
    ("swap", {"usage": (host(whole=Usage(cpu=1, throttled=0)),)}, Status.UNKNOWN),
    (
        "swap",
        {"usage": (host(whole=Usage(cpu=1), machine=MachineUsage(swap_total=0)),)},
        Status.VALID,
    ),
    (
        "swap",
        {"usage": (host(whole=Usage(cpu=1), machine=MachineUsage(swap_total=2**30)),)},
        Status.UNKNOWN,
    ),
    ("steal", {"usage": (host(machine=MachineUsage(steal=0.049)),)}, Status.VALID),
    ("steal", {"usage": (host(machine=MachineUsage(steal=0.05)),)}, Status.INVALID),
    ("steal", {"usage": (host(machine=MachineUsage()),)}, Status.UNKNOWN),
    ("other load", {"usage": (host(machine=MachineUsage(processors=1, busy=0.19)),)}, Status.VALID),
    (
        "other load",
        {"usage": (host(machine=MachineUsage(processors=1, busy=0.21)),)},
        Status.INVALID,
    ),
    ("other load", {"usage": (host(machine=MachineUsage(busy=0.21)),)}, Status.UNKNOWN),
    ("other load", {"usage": ()}, Status.UNKNOWN),
    ("iowait", {"usage": (host(machine=MachineUsage(iowait=0.9)),)}, Status.VALID),
    ("samples", {"usage": (host(samples=19),)}, Status.VALID),
    ("samples", {"usage": (host(samples=18),)}, Status.INVALID),
    ("samples", {"usage": (host(whole=Usage()),)}, Status.INVALID),
    ("samples", {"usage": ()}, Status.UNKNOWN),
    ("connections", {"measurement": measurement(remotes=("10.0.0.2:6379",))}, Status.VALID),
    (
        "connections",
        {"measurement": measurement(remotes=("10.0.0.1:6379", "172.17.0.2:6379"))},
        Status.INVALID,
    ),
    ("connections", {"measurement": measurement(remotes=())}, Status.UNKNOWN),
    ("throttled", {"usage": (host(units={"redis-1": Usage(throttled=0.01)}),)}, Status.INVALID),
    (
        "throttled",
        {
            "usage": (host(), host("db-2", units={"redis-1": Usage(throttled=0.01)})),
            "others": frozenset({"db-2"}),
        },
        Status.VALID,
    ),
    (
        "throttled",
        {"usage": (host(units={"redis-1": Usage(throttled=0.01)}),), "quota": True},
        Status.VALID,
    ),
    ("parts", {"parts": 2}, Status.INVALID),
    ("control", {"usage": (host(), director(Usage(cpu=0.19)))}, Status.VALID),
    ("control", {"usage": (host(), director(Usage(cpu=0.21)))}, Status.INVALID),
    ("control", {"usage": (host(), director(Usage()))}, Status.UNKNOWN),
    ("duration", {"measurement": measurement(seconds=3.0)}, Status.INVALID),
    ("duration", {"measurement": measurement(seconds=3.95)}, Status.VALID),
    (
        "duration",
        {"measurement": measurement(seconds=0.5), "order": order(duration=None)},
        Status.INVALID,
    ),
]


@pytest.mark.parametrize(("name", "spoiled", "expected"), SPOILED)
def test_a_gate_says_what_its_bound_says(
    name: str, spoiled: dict[str, Any], expected: Status | str
) -> None:
    assert gate(name, evidence(**spoiled)).status == expected


def test_a_gate_says_how_much_of_its_bound_was_used() -> None:
    used = {check.check: check.used for check in judge(evidence())}
    assert used["client"] == pytest.approx(0.5 / 0.98)
    assert used["errors"] == used["steal"] == used["swap"] == 0.0
    assert used["steady"] is None
    moments = gate(
        "client", evidence(order=order(OPEN), measurement=open_run(4000, client_limited=0.04))
    )
    assert moments.used == pytest.approx(0.8)
    stolen = host(machine=MachineUsage(processors=1.0, steal=0.04, iowait=0.0, busy=0.12))
    assert gate("steal", evidence(usage=(stolen,))).used == pytest.approx(0.8)
    swapped = host(whole=Usage(cpu=1, throttled=0, swap=4096))
    assert gate("swap", evidence(usage=(swapped,))).used is None


def test_what_a_quota_held_back_is_told_by_member_and_host_also_of_older_records() -> None:
    found = gate("throttled", evidence(usage=(host(units={"redis-1": Usage(throttled=0.01)}),)))
    (reading,) = found.seen
    assert (reading.member, reading.where) == ("redis-1", "db-1")
    old = reading.model_copy(update={"member": "", "where": "redis-1 on db-1"})
    assert seen(found) == seen(found.model_copy(update={"seen": (old,)}))
    assert seen(found).endswith(", redis-1 on db-1")


@pytest.mark.parametrize("told", ["swap", "host.swap"])
def test_a_gate_that_cannot_tell_says_why(told: str) -> None:
    unread = host(
        whole=Usage(cpu=0.4),
        machine=MachineUsage(processors=1.0, swap_total=1.0),
        absent={told: "it is not counted"},
    )
    found = gate("swap", evidence(usage=(unread,)))
    assert found.status is Status.UNKNOWN
    assert "it is not counted" in seen(found)


def test_why_a_lab_host_has_no_steal_of_its_own_says_nothing_of_the_machines() -> None:
    absent = {"host.steal": "hosts share the machine's counters"}
    machine = MachineUsage(processors=1.0)
    alone = gate("steal", evidence(usage=(host(machine=machine, absent=absent),)))
    assert alone.status is Status.UNKNOWN
    assert "share" not in seen(alone)
    told = {**absent, "machine.steal": "the counter ran backwards"}
    found = gate("steal", evidence(usage=(host(machine=machine, absent=told),)))
    assert "ran backwards" in seen(found)


def test_a_host_without_a_counter_of_its_cpu_is_not_watched_and_says_why() -> None:
    blind = host(whole=Usage(), absent={"host.cpu": "the controller is not mounted"})
    found = gate("samples", evidence(usage=(blind,)))
    assert found.status is Status.INVALID
    assert "the controller is not mounted" in seen(found)


def test_members_that_were_not_there_to_the_end_are_named() -> None:
    lost = (
        MemberState("cassandra-1", "db-1", room=2.0**30),
        MemberState("cassandra-2", "db-2", ended="exit code 137"),
        MemberState("cassandra-3", "db-3", silent="no answer within 10 s", room=4096.0),
    )
    found = gate("members", evidence(members=lost))
    assert found.status is Status.INVALID
    assert seen(found) == (
        "cassandra-2 on db-2 died (exit code 137); "
        "not ready after the load: cassandra-3 on db-3 (no answer within 10 s); "
        "only 4.0 KiB are left for the data of cassandra-3 on db-3"
    )
    assert allowed(found) == (
        "every member runs to the end, is ready then, and has at least 16.0 MiB for its data"
    )
    both = gate("members", evidence(members=[lost[1], replace(lost[1], member="c-3")]))
    assert seen(both) == "c-3 on db-2, cassandra-2 on db-2 died (exit code 137)"


def test_a_check_that_crashes_is_unknown_and_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    def crash(*_: object) -> tuple[Status, str, str]:
        raise ZeroDivisionError("by accident")

    monkeypatch.setitem(GATES, "steal", crash)
    checks = judge(evidence())
    assert status(checks) is Status.UNKNOWN
    assert "by accident" in seen(gate("steal", evidence()))


def test_invalid_outweighs_unknown_and_no_checks_are_unknown() -> None:
    def made(*statuses: Status) -> list[CheckResult]:
        return [CheckResult(check="c", status=s, why=Why.MEASURED) for s in statuses]

    assert status(made(Status.VALID, Status.UNKNOWN, Status.INVALID)) is Status.INVALID
    assert status(made(Status.VALID, Status.UNKNOWN)) is Status.UNKNOWN
    assert status(made(Status.VALID)) is Status.VALID
    assert status([]) is Status.UNKNOWN


def test_hosts_that_are_one_machine_are_held_against_its_load_together() -> None:
    machine = MachineUsage(processors=2.0, busy=0.12, steal=0.0, iowait=0.0)
    two = (host(machine=machine), host("client-1", "client", machine=machine))
    apart = {one.check: one for one in judge(evidence(usage=two))}["other load"]
    together = {one.check: one for one in judge(evidence(usage=two, one_machine=True))}
    assert seen(apart) == "7.0 % used by others"
    assert seen(together["other load"]) == "2.0 % used by others"


def test_pods_of_others_on_a_node_are_other_load_and_ours_are_not() -> None:
    """Of 8 s in 10 s of two processors, pods used 7 s: 2 s ours, 4 s members', 1 s others'."""
    machine = MachineUsage(processors=2.0, busy=0.4, steal=0.0, iowait=0.0)
    used = {"pods": 7.0, "agent": 2.0, "generator": 1.5, "redis-1": 3.0, "redis-2": 1.0}

    def judged(**units: float) -> str:
        known = {name: Usage(cpu=cpu) for name, cpu in units.items()}
        usage = (host(whole=Usage(cpu=8.0), units=known, machine=machine),)
        return seen(gate("other load", evidence(usage=usage, watched=10.0)))

    assert judged(**used) == "5.0 % used by others"
    assert judged(**{**used, "pods": 5.5}) == "0.0 % used by others"
    assert judged(**{name: cpu for name, cpu in used.items() if name != "agent"}) == (
        "0.0 % used by others"
    )


def test_where_others_were_too_busy_the_busiest_are_named_and_nobody_where_they_were_not() -> None:
    foreign = {"idle": 0.001, "stress": 0.4, "cc1": 0.2, "make": 0.1, "python": 0.05}
    busy = (host(machine=MachineUsage(processors=2.0, busy=0.5, steal=0.0, iowait=0.0)),)
    fired = gate("other load", evidence(usage=busy, foreign=foreign))
    assert fired.status is Status.INVALID
    assert seen(fired).endswith(" used by others (busiest: stress, cc1, make)")
    again = gate("other load", evidence(usage=busy, foreign={"stress": 0.6}))
    assert "(busiest: stress, cc1, make)" in seen(fired, again)
    alone = gate("other load", evidence(usage=busy, foreign={"idle": 0.001}))
    assert seen(alone).endswith(" used by others")
    assert alike(fired) == alike(alone)
    quiet = gate("other load", evidence(foreign=foreign))
    assert [reading.what for reading in quiet.seen] == ["others"]


def test_a_disturbance_is_one_whatever_else_failed_and_nothing_else_is() -> None:
    quiet = judge(evidence())
    stolen = judge(
        evidence(usage=(host(machine=MachineUsage(processors=1, busy=0.12, steal=0.5)),))
    )
    failing = judge(evidence(measurement=measurement(client_busy=1.0)))
    both = judge(
        evidence(
            usage=(host(machine=MachineUsage(processors=1, busy=0.12, steal=0.5)),),
            measurement=measurement(client_busy=1.0),
        )
    )
    judged = [disturbed(checks) for checks in (quiet, stolen, failing, both)]
    assert judged == [False, True, False, True]
