"""The search for saturation, as pure functions: which rate to try next, and what was found.

A geometric ramp finds a rate that is too high, bisection on the log scale then narrows it down.
A disturbance may refuse a rate that would be sustained, so no single refusal decides: a refusal by
little is tried again at once, and the one that the search would end at before it ends. If it is
sustained then, the search goes on above it.
"""

from __future__ import annotations

import math
import random
from collections.abc import Sequence

from dunnage.analysis.schedule import schedule
from dunnage.analysis.values import latencies
from dunnage.model.level import Search
from dunnage.model.load import LoadOrder
from dunnage.model.open_load import Refusal
from dunnage.model.record import Ending, Measurement, Probe, Searched

FACTOR = 2.0
"""Of the ramp, up and down."""
CLEAR = 0.9
"""Below this share of the offered rate one refusal is enough to go on with a lower rate."""


def first_rate(search: Search, words: str) -> float:
    """A rate near the start, another for all other words, such as a seed and a deployment.

    Without this every search would try the same rates, and two deployments whose capacities fall
    between the same two of them would never differ.
    """
    spread = random.Random(words).random() - 0.5  # noqa: S311 - a design, not a secret
    return float(max(1, round(search.start * FACTOR**spread)))


def next_rate(search: Search, first: float, probes: Sequence[Probe]) -> float | None:
    """The rate to try after these probes, whole and at least 1; None when the search is over."""
    if not probes:
        return first
    if len(probes) >= search.probes:
        return None
    last = probes[-1].rate
    if _doubtful(last, probes):
        return last
    low, high = edges(probes)
    if high is None:
        return float(round((low or first) * FACTOR))
    if _narrow(search, low, high):
        return None if _confirmed(high, probes) else high
    if low is None:
        return float(max(1, int(high / FACTOR)))
    return float(min(max(round(math.sqrt(low * high)), low + 1), high - 1))


def searched(search: Search, probes: Sequence[Probe]) -> Searched:
    """What these probes found."""
    low, high = edges(probes)
    ending = Ending.USED_UP
    if high is not None and _narrow(search, low, high) and _confirmed(high, probes):
        ending = Ending.NEVER_SUSTAINED if low is None else Ending.FOUND
    return Searched(rate=low, ended=ending, probes=tuple(probes))


def edges(probes: Sequence[Probe]) -> tuple[float | None, float | None]:
    """The highest rate that was sustained, and the lowest refused by more than little or twice."""
    sustained = {probe.rate for probe in probes if probe.sustained}
    refused = {probe.rate for probe in probes} - sustained
    sure = [rate for rate in refused if not _doubtful(rate, probes)]
    return max(sustained, default=None), min(sure, default=None)


def judged(search: Search, order: LoadOrder, measurement: Measurement) -> Probe:
    """Whether one probe's load was sustained, and if not, why."""
    assert order.level.rate is not None  # noqa: S101 (a probe is an open load)
    kept = schedule(measurement, order.connections, order.arrivals)
    known = latencies(measurement)
    refusals = []
    errors = sum(sum(stats.errors.values()) for stats in measurement.operations.values())
    if kept is None:
        refusals.append(Refusal(what="offered", value=None))
    elif kept.short:
        refusals.append(Refusal(what="achieved", value=kept.flow.achieved))
    elif kept.growing:
        refusals.append(Refusal(what="backlog.slope", value=kept.flow.slope))
    elif errors:
        refusals.append(Refusal(what="errors", value=errors))
    for name, most in search.objective.items():
        if name not in known or known[name] > most:
            refusals.append(Refusal(what=name, value=known.get(name), most=most))
    return Probe(
        rate=order.level.rate,
        offered=kept.flow.offered if kept else 0.0,
        achieved=kept.flow.achieved if kept else 0.0,
        p99=known.get("response.p99"),
        client_busy=measurement.client_busy,
        client=kept is not None and kept.over and kept.client,
        sustained=not refusals,
        refusals=tuple(refusals),
    )


def _doubtful(rate: float, probes: Sequence[Probe]) -> bool:
    """Whether a rate was refused once, and by so little that it must be tried again."""
    found = [probe for probe in probes if probe.rate == rate]
    return len(found) == 1 and not found[0].sustained and found[0].achieved >= CLEAR


def _confirmed(rate: float, probes: Sequence[Probe]) -> bool:
    """Whether a rate that was never sustained was refused more than once."""
    return sum(probe.rate == rate for probe in probes) > 1


def _narrow(search: Search, low: float | None, high: float) -> bool:
    """Whether there is nothing left to try between what was sustained and what was refused."""
    if low is None:
        return high <= 1
    return high <= low * (1 + search.precision) or high - low <= 1
