"""The search for saturation against servers whose capacity is known."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from itertools import count

import pytest
from analysis_cases import OPEN, latency, measurement, order, windows
from hypothesis import given
from hypothesis import strategies as st

from dunnage.findings.saturation.probe import first_rate, judged, next_rate, searched
from dunnage.findings.saturation.sentences import refused
from dunnage.model.level import Search
from dunnage.model.record import Ending, OperationStats, Probe, Searched

Answer = Callable[[float], float]
"""Rate → the share of it that a server achieves."""


def capacity(most: float) -> Answer:
    return lambda rate: min(1.0, most / rate)


def look(search: Search, answer: Answer, first: float | None = None) -> Searched:
    """Carry a search out against a simulated server."""
    probes: list[Probe] = []
    begin = first or search.start
    while (rate := next_rate(search, begin, probes)) is not None:
        achieved = answer(rate)
        probes.append(
            Probe(
                rate=rate,
                offered=rate,
                achieved=achieved,
                p99=None,
                client_busy=0.3,
                sustained=achieved >= 0.99,
            )
        )
        assert len(probes) <= search.probes
    return searched(search, probes)


@given(
    most=st.floats(20, 1e6),
    start=st.floats(1, 1e6),
    precision=st.sampled_from([0.01, 0.05, 0.2]),
)
def test_the_rate_found_lies_within_the_precision_below_the_capacity(
    most: float, start: float, precision: float
) -> None:
    search = Search(start=start, precision=precision, probes=100)
    found = look(search, capacity(most), float(round(start)))
    assert found.ended is Ending.FOUND
    assert found.rate is not None
    edge = most / 0.99
    assert found.rate <= edge < max(found.rate * (1 + precision), found.rate + 1) * (1 + 1e-9)
    assert len({probe.rate for probe in found.probes}) == len(
        {probe.rate for probe in found.probes if probe.sustained}
    ) + len({probe.rate for probe in found.probes if not probe.sustained})


def test_a_usual_search_takes_few_probes() -> None:
    found = look(Search(start=10_000), capacity(42_000))
    assert found.ended is Ending.FOUND
    assert len(found.probes) <= 12


def test_a_server_that_is_over_capacity_from_the_first_probe_ends_the_search() -> None:
    found = look(Search(start=100_000, probes=30), capacity(0.2))
    assert found == searched(Search(), found.probes)
    assert (found.rate, found.ended) == (None, Ending.NEVER_SUSTAINED)
    assert found.probes[-1].rate == 1


def test_a_server_without_limit_uses_the_probes_up_and_claims_nothing() -> None:
    found = look(Search(probes=8), capacity(float("inf")))
    assert found.ended is Ending.USED_UP
    assert len(found.probes) == 8
    assert found.rate == found.probes[-1].rate == 128_000


def test_one_disturbed_probe_does_not_end_the_search_too_low() -> None:
    disturbed = iter([1.0, 0.95])

    def answer(rate: float) -> float:
        return min(1.0, 40_000 / rate) * next(disturbed, 1.0)

    found = look(Search(start=10_000), answer)
    assert [probe.rate for probe in found.probes[:3]] == [10_000, 20_000, 20_000]
    assert found.rate is not None and 38_000 < found.rate <= 40_500


@pytest.mark.parametrize("bad", range(1, 9))
@pytest.mark.parametrize("share", [0.3, 0.6, 0.95])
def test_no_single_bad_probe_caps_the_search(bad: int, share: float) -> None:
    asked = count(1)

    def answer(rate: float) -> float:
        return min(1.0, 40_000 / rate) * (share if next(asked) == bad else 1.0)

    found = look(Search(start=10_000, probes=30), answer)
    assert found.ended is Ending.FOUND
    assert found.rate is not None and 38_000 < found.rate <= 40_500


def test_the_rate_that_a_search_ends_below_was_refused_twice() -> None:
    found = look(Search(start=10_000), capacity(42_000))
    assert found.rate is not None
    refused = [probe.rate for probe in found.probes if not probe.sustained]
    assert refused.count(min(refused)) == 2
    last = max(at for at, probe in enumerate(found.probes) if not probe.sustained)
    assert searched(Search(start=10_000), found.probes[:last]).ended is Ending.USED_UP


def test_grids_that_begin_elsewhere_show_a_difference_smaller_than_the_precision() -> None:
    search = Search(start=1000)

    def rates(deployment: str, most: float) -> list[float]:
        found = [
            look(search, capacity(most), first_rate(search, f"{seed}:{deployment}"))
            for seed in range(300)
        ]
        return [math.log(one.rate) for one in found if one.rate is not None]

    differences = [a - b for a, b in zip(rates("a", 20_200), rates("b", 20_000), strict=True)]
    assert sum(difference == 0 for difference in differences) < 30
    assert math.fsum(differences) / 300 == pytest.approx(0.01, abs=0.004)


@pytest.mark.parametrize("seed", range(30))
def test_noisy_acceptance_lands_within_noise_and_precision(seed: int) -> None:
    chance = random.Random(seed)
    search = Search(start=5_000, precision=0.05)
    found = look(search, lambda rate: min(1.0, 30_000 * chance.gauss(1.0, 0.02) / rate))
    assert found.ended is Ending.FOUND
    assert found.rate is not None
    assert 30_000 * 0.90 <= found.rate <= 30_000 * 1.10


def test_searches_begin_near_the_start_and_elsewhere_for_every_seed_and_deployment() -> None:
    firsts = {first_rate(Search(start=1000), f"{seed}:native") for seed in range(50)}
    assert len(firsts) > 40
    assert all(700 <= first <= 1420 and first == int(first) for first in firsts)
    one, again = (first_rate(Search(start=1000), "7:native") for _ in range(2))
    assert one == again != first_rate(Search(start=1000), "7:docker")


def test_a_probe_is_sustained_when_rate_errors_and_objective_are_kept() -> None:
    def probe(search: Search, **changed: object) -> Probe:
        stats = OperationStats(count=4000, errors={}, service=latency(), response=latency())
        known = {"operations": {"all": stats}, "offered": 1000.0, **changed}
        return judged(search, order(OPEN), measurement(**known))

    kept = probe(Search(objective={"response.p99": 0.01}))
    assert kept.sustained and kept.refusals == ()
    assert (kept.rate, kept.achieved, kept.p99) == (1000.0, 1.0, 0.004)
    slow = probe(Search(objective={"response.p99": 0.002}))
    assert refused(slow.refusals) == "response.p99 4 ms, over 2 ms"
    late = probe(Search(), windows=windows([190] * 20))
    assert refused(late.refusals) == "95.0 % of the offered rate"
    assert not late.client
    growing = probe(Search(), windows=windows([204] * 10 + [196] * 10))
    assert refused(growing.refusals) == "a backlog that grows by 20 ms a second"
    busy = probe(Search(), windows=windows([190] * 20), client_busy=0.97)
    assert busy.client and not busy.sustained
    failing = OperationStats(
        count=3999, errors={"timeout": 1}, service=latency(), response=latency()
    )
    assert refused(probe(Search(), operations={"all": failing}).refusals) == "errors"
    unknown = probe(Search(objective={"scan.response.p99": 1.0}))
    assert refused(unknown.refusals) == "scan.response.p99 is not known"
    both = probe(Search(objective={"response.p99": 0.002}), windows=windows([190] * 20))
    assert refused(both.refusals) == "95.0 % of the offered rate; response.p99 4 ms, over 2 ms"


def test_a_probe_of_an_earlier_version_can_be_read_and_says_why_it_was_refused() -> None:
    known = {"rate": 1.0, "offered": 1.0, "achieved": 0.8, "backlog_slope": 0.0, "p99": None}
    old = known | {"client_busy": 0.1, "sustained": False, "why_not": "80.0 % of the offered rate"}
    assert refused(Probe.model_validate(old).refusals) == "80.0 % of the offered rate"
    kept = Probe.model_validate(old | {"sustained": True, "why_not": ""})
    assert kept.refusals == () and Probe.model_validate_json(kept.model_dump_json()) == kept
    later = Probe.model_validate(known | {"client_busy": 0.1, "sustained": True})
    assert later == kept
