"""Every gate, on both sides of its bound."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from analysis_cases import CLOSED, OPEN, evidence, host, latency, measurement, order, windows

from dunnage.analysis.checks import (
    GATES,
    Bounds,
    Evidence,
    MemberState,
    against,
    disturbed,
    judge,
    status,
)
from dunnage.analysis.windows import uncharged
from dunnage.model.check import CheckResult, Status, Why
from dunnage.model.choices import Arrivals, Phase
from dunnage.model.level import Search
from dunnage.model.record import (
    Ending,
    HostUsage,
    MachineUsage,
    Measurement,
    OperationStats,
    Probe,
    Searched,
    Usage,
)
from dunnage.wording.checks import _SEEN, alike, allowed, failed, seen


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


def test_a_good_run_passes_every_gate() -> None:
    checks = judge(evidence())
    assert [check.check for check in checks] == list(GATES)
    assert {check.status for check in checks} == {Status.VALID}, checks
    assert status(checks) is Status.VALID
    assert all(seen(check) and allowed(check) for check in checks)


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


def test_one_error_makes_a_run_invalid_and_is_named() -> None:
    stats = OperationStats(count=3999, errors={"timeout": 1}, service=None, response=None)
    found = gate("errors", evidence(measurement=measurement(operations={"all": stats})))
    assert found.status is Status.INVALID
    assert seen(found) == "1 of 4000 operations (1 timeout)"


def test_a_run_without_answers_is_invalid() -> None:
    stats = OperationStats(count=0, errors={}, service=None, response=None)
    empty = measurement(operations={"all": stats}, windows=windows([0] * 20))
    found = {check.check: check.status for check in judge(evidence(measurement=empty))}
    assert found["errors"] is Status.INVALID
    assert found["steady"] is Status.INVALID


def test_a_rate_deficit_of_one_and_a_half_percent_over_half_an_hour_is_29_seconds_of_lag() -> None:
    answered = round(1000 * 1800 * (1 - 0.016))
    late = open_run(answered, seconds=1800.0, windows=windows([984] * 1800, 1.0), backlog=28_800)
    given = evidence(order=order(OPEN), measurement=late)
    found = gate("schedule", given)
    assert found.status is Status.VALID
    assert given.over_capacity
    assert "lag at the end 29 s" in seen(found)
    assert "growing by 16 ms a second: over capacity" in seen(found)


def test_a_backlog_that_grows_late_is_over_capacity_though_most_was_answered() -> None:
    late = open_run(3970, windows=windows([200] * 10 + [197] * 10))
    assert "over capacity" in seen(gate("schedule", evidence(order=order(OPEN), measurement=late)))


def test_a_client_at_its_limit_is_a_fault_of_the_instrument_and_no_finding() -> None:
    late = open_run(3800, client_busy=0.97, windows=windows([190] * 20))
    given = evidence(order=order(OPEN), measurement=late)
    found = gate("schedule", given)
    assert found.status is Status.INVALID
    assert seen(found).endswith("the client could not keep the schedule")
    assert not given.over_capacity


def test_a_client_that_was_at_its_limit_for_moments_is_told_with_how_long() -> None:
    late = open_run(3800, client_busy=0.5, client_limited=0.2, windows=windows([190] * 20))
    given = evidence(order=order(OPEN), measurement=late)
    assert not given.over_capacity
    found = gate("client", given)
    assert seen(found) == (
        "busiest client thread 50.0 % of one processor, at its limit for 20.0 % of the time"
    )
    assert allowed(found) == "below 95.0 %, at its limit for at most 5.0 % of the time"


def test_what_was_given_up_after_the_end_is_the_overload_and_no_error() -> None:
    stats = OperationStats(
        count=2000, errors={"timeout": 900}, service=latency(), response=latency()
    )
    overrun = measurement(
        operations={"all": stats}, offered=1000.0, backlog=2000, windows=windows([100] * 20)
    )
    found = gate("errors", evidence(order=order(OPEN), measurement=overrun))
    assert found.status is Status.VALID
    assert "900 timeout" in seen(found)
    assert "0 of them before the end of the window: over capacity" in seen(found)


def test_chance_in_poisson_arrivals_is_no_backlog() -> None:
    lucky = open_run(3970, windows=windows([203] * 10 + [194] * 10))
    found = gate(
        "schedule", evidence(order=order(OPEN, arrivals=Arrivals.POISSON), measurement=lucky)
    )
    assert found.status is Status.VALID


def test_a_kept_schedule_is_valid_and_a_closed_loop_has_none() -> None:
    kept = evidence(order=order(OPEN), measurement=open_run(4000))
    assert gate("schedule", kept).status is Status.VALID
    assert gate("schedule", evidence(order=order(CLOSED))).status is Status.VALID


def test_a_run_without_an_answer_in_its_first_third_can_be_kept() -> None:
    late = measurement(windows=windows([0] * 7 + [200] * 13))
    found = gate("steady", evidence(measurement=late))
    assert found.status is Status.INVALID
    assert seen(found).startswith("inf over 20 windows")


def test_a_slow_load_is_judged_in_windows_that_are_large_enough() -> None:
    sparse = measurement(windows=windows([1, 0, 1, 0] * 40))
    assert gate("steady", evidence(measurement=sparse)).status is Status.VALID


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


SEARCH = Search(precision=0.05)


def probe(rate: float, *, sustained: bool, client: bool = False) -> Probe:
    return Probe(
        rate=rate,
        offered=rate,
        achieved=1.0 if sustained else 0.9,
        p99=None,
        client_busy=0.5,
        client=client,
        sustained=sustained,
    )


@pytest.mark.parametrize(
    ("found", "status", "says"),
    [
        (
            Searched(
                rate=1000,
                ended=Ending.FOUND,
                probes=(probe(1000, sustained=True), probe(1040, sustained=False)),
            ),
            Status.VALID,
            "2 probes; 1000 op/s was sustained, 1040 op/s was not",
        ),
        (
            Searched(
                rate=1000,
                ended=Ending.FOUND,
                probes=(probe(1000, sustained=True), probe(1040, sustained=False, client=True)),
            ),
            Status.INVALID,
            "because of the client's limit",
        ),
        (
            Searched(
                rate=1000,
                ended=Ending.USED_UP,
                probes=(probe(1000, sustained=True), probe(2000, sustained=False)),
            ),
            Status.INVALID,
            "2000 op/s was not",
        ),
        (
            Searched(rate=1000, ended=Ending.USED_UP, probes=(probe(1000, sustained=True),)),
            Status.INVALID,
            "no higher rate was refused",
        ),
        (
            Searched(rate=None, ended=Ending.NEVER_SUSTAINED, probes=(probe(1, sustained=False),)),
            Status.INVALID,
            "none of 1 probes was sustained",
        ),
    ],
)
def test_a_search_is_valid_only_where_the_deployment_set_its_end(
    found: Searched, status: Status, says: str
) -> None:
    said = gate("search", evidence(search=SEARCH, searched=found))
    assert said.status is status
    assert says in seen(said)
