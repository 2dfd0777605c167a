"""An open load that was not kept to: how far behind, and through whom. Servers are simulated."""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable

import pytest
from analysis_cases import latency, measurement, windows

from dunnage.analysis.schedule import Schedule, backlog_slope, flow, schedule
from dunnage.model.choices import Arrivals
from dunnage.model.record import Latency, Measurement, OperationStats, Window


def served(
    rate: float,
    service: float,
    *,
    seconds: float = 10.0,
    warmup: float = 1.0,
    connections: int = 16,
    held: Callable[[float], float] = lambda start: start,
) -> Measurement:
    """What a load at this rate makes of one server that answers in turn, each in `service` s.

    `held` says when a server that is to begin at a time really begins, so that it can stall.
    """
    ends, services, responses = [], [], []
    busy = [-warmup] * connections
    free = -warmup
    for number in range(round(rate * (warmup + seconds))):
        intended = number / rate - warmup
        start = max(intended, heapq.heappop(busy))
        free = held(max(free, start)) + service
        heapq.heappush(busy, free)
        ends.append(free)
        if intended >= 0:
            services.append(free - start)
            responses.append(free - intended)
    inside = sum(1 for end in ends[-len(services) :] if end < seconds)
    return measurement(
        seconds=seconds,
        operations={
            "all": OperationStats(
                count=inside, errors={}, service=_mean(services), response=_mean(responses)
            )
        },
        windows=tuple(
            Window(
                start=at * 0.2,
                length=0.2,
                operations=sum(1 for end in ends if at * 0.2 <= end < (at + 1) * 0.2),
                errors=0,
            )
            for at in range(round(seconds / 0.2))
        ),
        offered=rate,
        backlog=len(services) - inside,
    )


def _mean(values: list[float]) -> Latency:
    return latency().model_copy(update={"mean": sum(values) / len(values), "count": len(values)})


def found(load: Measurement, connections: int = 16) -> Schedule:
    judged = schedule(load, connections, Arrivals.CONSTANT)
    assert judged is not None
    return judged


def test_a_server_of_two_milliseconds_at_nine_tenths_of_the_rate_is_over_capacity() -> None:
    judged = found(served(rate=500 / 0.9, service=0.002))
    assert judged.over_capacity
    assert judged.flow.achieved == pytest.approx(0.9, abs=0.002)
    assert judged.flow.slope == pytest.approx(0.1, abs=0.002)
    assert judged.flow.lag >= 0.1 * 10


def test_the_same_server_at_nine_tenths_of_its_own_capacity_keeps_up() -> None:
    judged = found(served(rate=450, service=0.002))
    assert not (judged.over or judged.short or judged.growing)
    assert judged.flow.achieved == pytest.approx(1.0, abs=0.001)
    assert judged.flow.slope == pytest.approx(0.0, abs=0.001)


def test_a_deficit_of_1_6_percent_gains_29_seconds_of_lag_in_half_an_hour() -> None:
    slope = backlog_slope(windows([984] * 1800, 1.0), 1000.0)
    assert slope is not None
    assert slope == pytest.approx(0.016, rel=1e-9)
    assert slope * 1800 == pytest.approx(28.8)


def test_a_queue_of_constant_length_is_latency_and_no_backlog() -> None:
    slow = measurement(seconds=2.0, offered=1000.0, backlog=100, windows=windows([200] * 10))
    judged = found(slow, connections=128)
    assert not judged.over
    assert judged.flow.achieved == 1.0
    assert judged.flow.lag == pytest.approx(0.1)


def test_a_stall_that_was_worked_off_is_no_lack_of_capacity() -> None:
    judged = found(
        served(300, 0.002, held=lambda start: 4.0 if 3.0 <= start < 4.0 else start, seconds=10.0)
    )
    assert not judged.over
    assert judged.flow.achieved == pytest.approx(1.0, abs=0.001)


def test_a_short_stall_just_before_the_end_is_told_but_is_no_lack_of_capacity() -> None:
    stalled = served(300, 0.002, held=lambda start: 12.0 if start >= 9.8 else start, seconds=10.0)
    judged = found(stalled)
    assert judged.short
    assert not judged.over


def test_starts_that_are_late_while_connections_are_free_are_the_clients_doing() -> None:
    short = latency().model_copy(update={"mean": 0.0005})
    late = latency().model_copy(update={"mean": 0.4})
    stats = OperationStats(count=3600, errors={}, service=short, response=late)
    slipping = measurement(
        operations={"all": stats}, offered=1000.0, backlog=400, windows=windows([180] * 20)
    )
    judged = found(slipping)
    assert judged.over and judged.client and not judged.over_capacity


def test_answers_that_are_late_though_starts_were_not_are_the_deployments_doing() -> None:
    stats = OperationStats(
        count=190, errors={}, service=latency(scale=100), response=latency(scale=100)
    )
    slow = measurement(
        operations={"all": stats}, offered=50.0, backlog=10, windows=windows([9] * 20)
    )
    assert found(slow, connections=4096).over_capacity


def test_chance_in_poisson_arrivals_is_no_growth_and_the_slack_shrinks_with_the_load() -> None:
    def swung(scale: int) -> Schedule | None:
        line = windows([round(scale * count) for count in [20] * 10 + [19] * 10])
        many = measurement(offered=97.5 * scale, windows=line, operations=measurement().operations)
        return schedule(many, 64, Arrivals.POISSON)

    few, many = swung(1), swung(1000)
    assert few is not None and not few.over
    assert many is not None and many.growing


def test_a_closed_loop_has_no_flow() -> None:
    assert flow(measurement()) is None
    assert schedule(measurement(), 64, Arrivals.CONSTANT) is None


def test_a_single_window_tells_no_slope_but_what_is_missing() -> None:
    brief = measurement(offered=1000.0, windows=windows([3800], 4.0))
    assert backlog_slope(brief.windows, 1000.0) is None
    seen = flow(brief)
    assert seen is not None and math.isclose(seen.slope, 0.05)
