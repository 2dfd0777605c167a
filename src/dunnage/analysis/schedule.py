"""Whether an open load was kept to, and if not, who could not: the deployment or the client."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from dunnage.model.choices import Arrivals
from dunnage.model.record import Measurement, OperationStats, Window

KEPT = 0.99
"""Share of the offered rate that keeps a schedule."""
BUSY = 0.95
"""Busiest client thread: above it starts are late by queueing in the client alone."""
LIMITED = 0.05
"""Share of the window for which a client may be at its limit without being taken for what limited
the load; the engine judges itself by the same."""
_EDGE = 2
"""Operations that may be missing at the edges of a window, however few it holds."""


@dataclass(frozen=True)
class Flow:
    """What came of the rate that was offered in the measured window."""

    offered: float
    """Operations per second that were intended."""
    achieved: float
    """Operations that were over, answered or failed, as a share of those intended. What the
    warm-up left over counts, so that a queue of constant length achieves all."""
    slope: float
    """Seconds that the backlog grew by in each second, over the second half of the window."""
    lag: float
    """Seconds by which answers lay behind the schedule when the window ended."""


@dataclass(frozen=True)
class Schedule:
    """How an open load went, judged."""

    flow: Flow
    short: bool
    """More is missing at the end than may be."""
    growing: bool
    """The backlog grew by more than chance explains."""
    client: bool
    """The client was at its own limit, or was late although connections were free."""
    over: bool
    """The rate was too high for somebody: the backlog grew, or what is missing is more than one
    stall just before the end, which a later end of the window would have forgiven."""

    @property
    def over_capacity(self) -> bool:
        """Whether it was too high for the deployment."""
        return self.over and not self.client


def flow(measurement: Measurement) -> Flow | None:
    """What came of an open load; None where the offered rate is not known."""
    offered, seconds = measurement.offered, measurement.seconds
    if not offered or seconds <= 0:
        return None
    intended, over = offered * seconds, done(measurement)
    slope = backlog_slope(measurement.windows, offered)
    return Flow(
        offered=offered,
        achieved=over / intended,
        slope=1 - over / intended if slope is None else slope,
        lag=max(measurement.backlog, intended - over, 0.0) / offered,
    )


def schedule(measurement: Measurement, connections: int, arrivals: Arrivals) -> Schedule | None:
    """Judge an open load; None where the offered rate is not known."""
    found = flow(measurement)
    if found is None:
        return None
    intended = found.offered * measurement.seconds
    slack = 0.0
    if arrivals is Arrivals.POISSON:
        # The slope of a random walk of n steps deviates by √(6 / 5n); n is half of the arrivals.
        slack = 3 * math.sqrt(12 / (5 * max(1.0, intended)))
    missing = 1 - found.achieved
    short = missing * intended > (1 - KEPT) * intended + _EDGE
    growing = found.slope > 1 - KEPT + slack + 2 * _EDGE / intended
    return Schedule(
        flow=found,
        short=short,
        growing=growing,
        client=_client(measurement, connections),
        over=growing or (short and found.slope + slack >= missing / 2),
    )


def done(measurement: Measurement) -> int:
    """Operations that were over inside the measured window, whenever they were intended."""
    line = measured(measurement.windows)
    if line:
        return sum(window.operations + window.errors for window in line)
    return sum(each.count + sum(each.errors.values()) for each in counted(measurement))


def counted(measurement: Measurement) -> Iterable[OperationStats]:
    """Each operation once: the generator's own sum, or the types that it is made of."""
    stats = measurement.operations.get("all")
    return measurement.operations.values() if stats is None else (stats,)


def measured(windows: Sequence[Window]) -> list[Window]:
    """The time line without its warm-up, in order."""
    return sorted((window for window in windows if window.start >= -1e-9), key=lambda w: w.start)


def backlog_slope(windows: Sequence[Window], offered: float) -> float | None:
    """Seconds of lag gained in each second, by least squares over the second half of a time line.

    The lag at time t is t less the time for which the schedule has that many operations as were
    over by then. None where there are fewer than two windows.
    """
    line = measured(windows)
    half = line[len(line) // 2 :]
    if len(half) < 2 or offered <= 0:
        return None
    times, lags = [half[0].start], [0.0]
    for window in half:
        times.append(window.start + window.length)
        lags.append(lags[-1] + window.length - (window.operations + window.errors) / offered)
    mean_time, mean_lag = math.fsum(times) / len(times), math.fsum(lags) / len(lags)
    moment = math.fsum(
        (time - mean_time) * (lag - mean_lag) for time, lag in zip(times, lags, strict=True)
    )
    spread = math.fsum((time - mean_time) ** 2 for time in times)
    return moment / spread if spread > 0 else None


def _client(measurement: Measurement, connections: int) -> bool:
    """Whether a schedule that was not kept is the client's doing.

    Little's law: operations in flight are throughput times service time. Where fewer than half of
    the connections were in use, and operations waited longer for their start than for their
    answer, it was not the deployment that they waited for.
    """
    if measurement.client_busy >= BUSY or (measurement.client_limited or 0.0) > LIMITED:
        return True
    stats = measurement.operations.get("all")
    if stats is None or stats.service is None or stats.response is None:
        return False
    in_flight = stats.count / measurement.seconds * stats.service.mean
    waited = stats.response.mean - stats.service.mean
    return in_flight < connections / 2 and waited > stats.response.mean / 2
