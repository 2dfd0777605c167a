"""Known answers for the Universal Scalability Law: what was put in comes out, within its bands."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray

from dunnage.findings.scalability.law import Law
from dunnage.findings.scalability.law_bands import law
from dunnage.model.scalability import ScalabilityLaw

THREADS = [1, 2, 4, 8, 16, 32, 64, 128]
TRUE = Law(rate=9000.0, contention=0.04, coherency=0.0006)


def measured(true: Law, blocks: int = 8, noise: float = 0.02, seed: int = 5) -> NDArray[np.float64]:
    """Logs of throughput[block, level] with a block effect and noise."""
    chance = np.random.default_rng(seed)
    levels = np.log([true.throughput(n) for n in THREADS])
    effect = chance.normal(0, 0.03, (blocks, 1))
    return np.asarray(levels + effect + chance.normal(0, noise, (blocks, len(THREADS))))


def fitted(logs: NDArray[np.float64]) -> ScalabilityLaw:
    found = law(THREADS, logs)
    assert found is not None
    return found


def test_without_noise_the_parameters_come_back_exactly() -> None:
    found = fitted(measured(TRUE, noise=0.0) * 0 + np.log([TRUE.throughput(n) for n in THREADS]))
    assert found.rate.value == pytest.approx(9000, rel=1e-6)
    assert found.contention.value == pytest.approx(0.04, rel=1e-5)
    assert found.coherency.value == pytest.approx(0.0006, rel=1e-5)
    assert found.peak_threads is not None and found.peak_throughput is not None
    assert found.peak_threads.value == pytest.approx(math.sqrt(0.96 / 0.0006), rel=1e-5)
    assert found.peak_throughput.value == pytest.approx(TRUE.throughput(40), rel=1e-5)
    assert found.r_squared == pytest.approx(1.0)
    assert not found.extrapolated and found.notes == ()


@pytest.mark.parametrize("studies", [16, pytest.param(300, marks=pytest.mark.proof)])
def test_bands_hold_the_truth_about_as_often_as_they_say(
    studies: int, record_property: Callable[[str, object], None]
) -> None:
    held = {"rate": 0, "contention": 0, "coherency": 0, "peak_threads": 0}
    truth = {"rate": 9000.0, "contention": 0.04, "coherency": 0.0006, "peak_threads": TRUE.peak}
    for seed in range(studies):
        found = fitted(measured(TRUE, blocks=6, seed=seed))
        for name in held:
            estimate = getattr(found, name)
            assert estimate.low is not None and estimate.high is not None
            held[name] += estimate.low <= truth[name] <= estimate.high
    for name, count in held.items():
        record_property("seen", f"{name}: held {count / studies:.1%}")
        assert count >= 0.87 * studies, held
    # Bands that hold everything would say nothing.
    assert sum(held.values()) <= 0.98 * studies * len(held), held


def test_without_coherency_there_is_no_peak_and_the_law_says_so() -> None:
    logs = np.tile(np.log([Law(5000, 0.1, 0.0).throughput(n) for n in THREADS]), (6, 1))
    found = fitted(logs)
    assert found.coherency.value == pytest.approx(0.0, abs=1e-12)
    assert found.contention.value == pytest.approx(0.1, rel=1e-6)
    assert found.peak_threads is None and found.peak_throughput is None
    assert not found.extrapolated
    assert any("no peak" in note for note in found.notes)


def test_a_peak_beyond_the_measured_levels_is_called_extrapolated() -> None:
    found = fitted(np.tile(np.log([Law(5000, 0.01, 1e-5).throughput(n) for n in THREADS]), (6, 1)))
    assert found.peak_threads is not None and found.peak_threads.value > 128
    assert found.extrapolated


def test_a_band_of_coherency_that_reaches_zero_leaves_the_peak_open_above() -> None:
    found = fitted(measured(Law(5000, 0.1, 3e-6), noise=0.03))
    assert found.coherency.low == 0.0
    assert found.peak_threads is None or found.peak_threads.high is None


def test_below_six_blocks_there_is_a_fit_and_no_band() -> None:
    found = fitted(measured(TRUE, blocks=5))
    assert found.rate.low is None and found.points[0].low is None
    assert "no band below 6" in found.rate.method


def test_a_band_without_ends_says_why() -> None:
    found = fitted(measured(Law(5000, 0.1, 3e-6), noise=0.03, seed=3))
    assert found.peak_threads is not None
    assert found.peak_threads.high is None
    assert "infinite in " in found.peak_threads.method
    assert "below 6" not in found.peak_threads.method


def test_resamples_without_a_fit_are_counted() -> None:
    levels = THREADS[1:]
    without = np.log([1000.0 / n**3 for n in levels])
    assert law(levels, np.tile(without, (6, 1))) is None
    found = law(levels, np.vstack([measured(TRUE, blocks=4)[:, 1:], np.tile(without, (2, 1))]))
    assert found is not None
    assert "of 2000 resamples without a fit left out" in found.rate.method
    assert "without a fit" not in fitted(measured(TRUE)).rate.method


def test_bands_are_the_same_every_time_and_hold_the_curve() -> None:
    logs = measured(TRUE)
    one, other = fitted(logs), fitted(logs)
    assert one == other
    for point in one.points:
        assert point.low is not None and point.high is not None
        assert point.low <= point.value <= point.high


def test_a_missing_level_of_a_block_is_no_zero() -> None:
    logs = measured(TRUE)
    logs[2, 5] = math.nan
    found = fitted(logs)
    assert found.contention.value == pytest.approx(0.04, abs=0.02)


def test_growth_beyond_linear_is_told() -> None:
    logs = np.tile(np.log([100, 300, 700, 1500, 2000, 2200, 2200, 2100]), (6, 1))
    assert any("beyond linear" in note for note in fitted(logs).notes)


def test_throughput_that_only_falls_is_refused_or_has_its_peak_at_one_thread() -> None:
    falling = np.tile(np.log([1000.0 / n for n in THREADS]), (6, 1))
    found = law(THREADS, falling)
    assert found is None or (found.peak_threads is not None and found.peak_threads.value < 2)
