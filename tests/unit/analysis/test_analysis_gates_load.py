"""Gates over the load itself: errors, the schedule, steadiness and a search."""

from __future__ import annotations

import pytest
from analysis_cases import CLOSED, OPEN, evidence, latency, measurement, order, windows
from gate_cases import gate, open_run

from dunnage.analysis.checks import (
    judge,
)
from dunnage.model.check import Status
from dunnage.model.choices import Arrivals
from dunnage.model.level import Search
from dunnage.model.record import Ending, OperationStats, Probe, Searched
from dunnage.wording.checks import allowed, seen


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
