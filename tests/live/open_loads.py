"""Open loads, judged alike on every server."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest

from dunnage.findings.saturation.probe import judged, next_rate, searched
from dunnage.model.level import Search
from dunnage.model.load import LoadOrder
from dunnage.model.record import Measurement, Probe, Searched

BEYOND_CHANCE = 4.0
"""Standard deviations."""


def insist_random_arrivals(measured: Measurement, rate: float) -> None:
    """Fail unless operations came at this rate as they do by chance, and have response times."""
    everything = measured.operations["all"]
    assert not any(everything.errors.values())
    assert everything.response is not None
    # What was meant for the window but answered after it has a latency, and is not counted.
    assert everything.response.count >= everything.count > 0
    assert measured.offered == pytest.approx(rate, rel=chance(rate, measured.seconds))


def chance(rate: float, seconds: float) -> float:
    """The share by which random arrivals may be more or fewer: a Poisson process of n arrivals
    deviates by 1 / √n."""
    return BEYOND_CHANCE / math.sqrt(rate * seconds)


def found(search: Search, drive: Callable[[float], tuple[LoadOrder, Measurement]]) -> Searched:
    """Carry out a search; `drive` makes the load of a rate."""
    probes: list[Probe] = []
    while (rate := next_rate(search, search.start, probes)) is not None:
        probes.append(judged(search, *drive(rate)))
    return searched(search, probes)
