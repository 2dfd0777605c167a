"""Known answers for paired estimates: what they cover, and what they must not do."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from dunnage.analysis.intervals import Paired, block_logs, over_blocks, sidak
from dunnage.findings.differences.blocks import settle
from dunnage.findings.differences.twins import Twin
from dunnage.model.analysis import Verdict
from dunnage.model.metrics import Better

SIMULATIONS = 1000
DEPLOYMENTS = 3
NATIVE, TWIN, VARIANT = range(DEPLOYMENTS)

ratios = st.lists(st.floats(-0.5, 0.5), min_size=1, max_size=20)


def simulate(
    overhead: float,
    blocks: int,
    drift: str,
    *,
    interleaved: bool = True,
    seed: int = 11,
    simulations: int = SIMULATIONS,
) -> NDArray[np.float64]:
    """Log values as [simulation, deployment, block]: block effect, drift, lognormal noise."""
    chance = np.random.default_rng(seed)
    slots = blocks * DEPLOYMENTS
    if interleaved:
        order = chance.permuted(
            np.tile(np.arange(DEPLOYMENTS), (simulations, blocks, 1)), axis=2
        ).reshape(simulations, slots)
    else:
        order = np.tile(np.repeat(np.arange(DEPLOYMENTS), blocks), (simulations, 1))
    over_time = np.zeros((simulations, slots))
    if drift == "linear":
        over_time += np.linspace(0, 0.10, slots)
    else:
        shocks = chance.normal(0, 0.01, (simulations, slots))
        for slot in range(1, slots):
            over_time[:, slot] = 0.8 * over_time[:, slot - 1] + shocks[:, slot]
    effect = chance.normal(0, 0.05, (simulations, blocks))
    noise = chance.normal(0, 0.02, (simulations, slots))
    logs = np.empty((simulations, DEPLOYMENTS, blocks))
    for deployment in range(DEPLOYMENTS):
        at = np.nonzero(order == deployment)[1].reshape(simulations, blocks)
        rows = np.arange(simulations)[:, None]
        logs[:, deployment] = over_time[rows, at] + noise[rows, at]
        if interleaved:
            logs[:, deployment] += effect
    logs[:, VARIANT] += math.log1p(overhead)
    return logs


def pairs(logs: NDArray[np.float64], deployment: int) -> list[Paired]:
    return [Paired(tuple(row)) for row in (logs[:, deployment] - logs[:, NATIVE]).tolist()]


def covered(found: list[Paired], truth: float) -> float:
    held = 0
    for paired in found:
        difference = paired.difference(0.95)
        assert difference is not None and difference.low is not None
        assert difference.high is not None
        held += difference.low <= truth <= difference.high
    return held / len(found)


@pytest.mark.parametrize("drift", ["linear", "ar1"])
@pytest.mark.parametrize("overhead", [0.0, 0.03, 0.10])
@pytest.mark.parametrize("blocks", [6, 12])
def test_intervals_cover_the_true_overhead_as_often_as_they_say(
    overhead: float, drift: str, blocks: int
) -> None:
    found = pairs(simulate(overhead, blocks, drift), VARIANT)
    assert 0.92 <= covered(found, overhead) <= 0.98


def test_the_bootstrap_covers_from_thirty_blocks_on() -> None:
    found = pairs(simulate(0.03, 30, "ar1", simulations=200), VARIANT)
    assert 0.92 <= covered(found, 0.03) <= 0.98


def judged(logs: NDArray[np.float64], tolerance: float) -> Counter[Verdict]:
    """How many simulations end with each verdict on the variant."""
    return Counter(
        settle(
            variant,
            variant.difference(0.95),
            tolerance,
            Better.LOWER,
            Twin(twin.n, known.apart if (known := twin.difference(0.95)) else None),
        ).verdict
        for twin, variant in zip(pairs(logs, TWIN), pairs(logs, VARIANT), strict=True)
    )


@pytest.mark.parametrize("drift", ["linear", "ar1"])
def test_identical_deployments_are_rarely_told_apart_and_mostly_called_equivalent(
    drift: str,
) -> None:
    logs = simulate(0.0, 8, drift)
    strict, loose = judged(logs, 0.001), judged(logs, 0.05)
    claimed = strict[Verdict.OVERHEAD] + strict[Verdict.GAIN]
    assert 0.02 * SIMULATIONS <= claimed <= 0.07 * SIMULATIONS
    assert loose[Verdict.OVERHEAD] + loose[Verdict.GAIN] <= 0.005 * SIMULATIONS
    assert loose[Verdict.EQUIVALENT] >= 0.8 * SIMULATIONS


def test_blocks_of_one_deployment_read_drift_as_overhead_and_interleaved_ones_do_not() -> None:
    apart = pairs(simulate(0.03, 8, "linear", interleaved=False), VARIANT)
    mixed = pairs(simulate(0.03, 8, "linear"), VARIANT)
    assert covered(apart, 0.03) < 0.05
    assert covered(mixed, 0.03) >= 0.92


def test_a_true_overhead_of_ten_percent_is_found_in_nearly_every_study() -> None:
    found = judged(simulate(0.10, 12, "ar1"), 0.03)
    assert found[Verdict.OVERHEAD] >= 0.9 * SIMULATIONS
    assert found[Verdict.GAIN] + found[Verdict.EQUIVALENT] <= 0.05 * SIMULATIONS


@given(ratios)
def test_swapping_the_baseline_flips_the_sign_on_the_log(logs: list[float]) -> None:
    one, other = Paired(tuple(logs)), Paired(tuple(-d for d in logs))
    assert one.mean == pytest.approx(-other.mean, abs=1e-12)
    assert one.sd == pytest.approx(other.sd, abs=1e-12)
    ends, mirrored = one.interval(0.95), other.interval(0.95)
    assert (ends is None) == (mirrored is None)
    if ends and mirrored:
        assert ends[0] == pytest.approx(-mirrored[1], abs=1e-9)
        assert ends[1] == pytest.approx(-mirrored[0], abs=1e-9)


@given(
    st.lists(st.tuples(st.floats(1, 1e6), st.floats(1, 1e6)), min_size=1, max_size=12),
    st.floats(1e-3, 1e3),
)
def test_scaling_both_sides_leaves_the_ratio(
    values: list[tuple[float, float]], scale: float
) -> None:
    def paired(factor: float) -> Paired:
        return Paired.of(
            block_logs((i, factor * a) for i, (a, _) in enumerate(values)),
            block_logs((i, factor * b) for i, (_, b) in enumerate(values)),
        )

    assert paired(scale).logs == pytest.approx(paired(1).logs, abs=1e-9)


@pytest.mark.parametrize("blocks", range(6))
def test_fewer_than_six_blocks_have_no_interval(blocks: int) -> None:
    paired = Paired(tuple(0.01 * i for i in range(blocks)))
    assert paired.interval(0.95) is None
    assert paired.detectable(0.95) is None
    difference = paired.difference(0.95)
    assert (difference is None) == (blocks == 0)
    if difference is not None:
        assert (difference.low, difference.high, difference.n) == (None, None, blocks)


def test_repeated_runs_of_a_block_are_averaged_before_blocks_are_compared() -> None:
    logs = block_logs([(1, 1.0), (1, math.e**2), (2, math.e), (3, 0.0), (4, math.nan)])
    assert logs == pytest.approx({1: 1.0, 2: 1.0})


def test_only_blocks_with_both_sides_are_paired() -> None:
    assert Paired.of({1: 1.0, 2: 2.0, 4: 0.0}, {2: 0.5, 3: 1.0, 4: 0.0}).logs == (1.5, 0.0)


def test_the_t_interval_is_the_textbook_one() -> None:
    paired = Paired((0.01, 0.02, 0.03, 0.04, 0.05, 0.06))
    low, high = paired.interval(0.95) or (0, 0)
    half = 2.570582 * 0.0187082869 / math.sqrt(6)
    assert (low, high) == pytest.approx((0.035 - half, 0.035 + half), rel=1e-6)


def test_a_family_widens_every_interval() -> None:
    paired = Paired((0.01, 0.02, 0.03, 0.04, 0.05, 0.06))
    alone, among = paired.difference(0.95), paired.difference(0.95, family=12)
    assert alone is not None and among is not None
    assert among.low is not None and alone.low is not None and among.low < alone.low
    assert sidak(12) ** 12 == pytest.approx(0.95)
    assert sidak(1) == 0.95


def test_the_bootstrap_gives_the_same_interval_every_time() -> None:
    logs = tuple(np.random.default_rng(3).normal(0.02, 0.05, 40).tolist())
    assert Paired(logs).interval(0.95) == Paired(logs).interval(0.95)


def test_one_outlier_moves_the_mean_and_hardly_the_hodges_lehmann_estimate() -> None:
    paired = Paired((0.01,) * 9 + (1.0,))
    assert paired.hodges_lehmann() == pytest.approx(math.expm1(0.01))
    assert paired.mean > 0.1


def test_the_detectable_effect_shrinks_with_more_blocks() -> None:
    few, many = Paired((0.0, 0.02) * 4), Paired((0.0, 0.02) * 12)
    assert 0 < (many.detectable(0.95) or 0) < (few.detectable(0.95) or 0)


def test_a_summary_is_the_geometric_mean_of_its_blocks() -> None:
    estimate = over_blocks({i: math.log(v) for i, v in enumerate([1, 4, 2, 2, 2, 2])}, "s")
    assert estimate is not None and estimate.low is not None and estimate.high is not None
    assert estimate.value == pytest.approx(2)
    assert estimate.low < 2 < estimate.high
    assert over_blocks({}, "s") is None
