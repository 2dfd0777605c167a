"""Numbers are written in one way."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dunnage.model.estimate import Estimate
from dunnage.model.metrics import METRICS
from dunnage.wording import numbers


def between(low: float | None, high: float | None) -> Estimate:
    return Estimate(value=0.0, low=low, high=high, n=8, unit="share", method="by hand")


def test_a_value_carries_its_unit_and_the_digits_of_its_metric() -> None:
    assert numbers.value("throughput", 48210.4) == "48,210 op/s"
    assert numbers.value("service.p95", 0.0012041) == "1.204 ms"
    assert numbers.value("cpu.database", 18.24e-6) == "18.2 µs/op"


def test_a_difference_of_any_size_has_its_sign_in_the_unit_of_its_metric() -> None:
    written = [
        numbers.signed("cpu.database", size) for size in (1277.4e-6, -1277.4e-6, 3e-9, -3e-9)
    ]
    assert written == ["+1,277.4", "−1,277.4", "0.0", "0.0"]


@pytest.mark.parametrize("metric", METRICS)
def test_every_metric_can_be_written(metric: str) -> None:
    assert numbers.value(metric, 1.0).endswith(" " + METRICS[metric].unit)


@pytest.mark.parametrize(
    ("share", "text"),
    [
        (0.091, "+9.1 %"),
        (-0.11, "−11.0 %"),
        (0.0, "0.0 %"),
        (-0.0001, "0.0 %"),
        (0.0004, "0.0 %"),
        (1.5, "+150 %"),
        (-0.9996, "−100.0 %"),
    ],
)
def test_a_difference_has_a_sign_unless_it_rounds_to_zero(share: float, text: str) -> None:
    assert numbers.difference(share) == text


def test_an_interval_has_both_signs_and_one_unit() -> None:
    assert numbers.interval(between(0.091, 0.128)) == "+9.1 … +12.8 %"
    assert numbers.interval(between(-0.016, 0.002)) == "−1.6 … +0.2 %"


def test_a_missing_end_is_no_interval() -> None:
    for ends in ((None, 0.1), (0.1, None)):
        assert numbers.interval(between(*ends)) == "no interval"
    assert numbers.bound(None) == "none"


def test_counts_agree_with_their_nouns() -> None:
    assert numbers.count(1, "block") == "1 block"
    assert numbers.count(0, "block") == "0 blocks"
    assert numbers.count(12000, "entry", "entries") == "12,000 entries"


@pytest.mark.parametrize(
    ("share", "text"),
    [
        (0.0, "0.0 %"),
        (0.0409, "4.0 %"),
        (-0.001, "0.1 %"),
        (0.00099, "0.09 %"),
        (0.00004, "0.004 %"),
        (0.000009, "a trace"),
        (1e-12, "a trace"),
    ],
)
def test_what_differs_at_least_is_never_said_to_be_zero(share: float, text: str) -> None:
    assert numbers.least(share) == text


@pytest.mark.parametrize(
    ("share", "text"), [(0.0, "0.0 %"), (0.0401, "4.1 %"), (-0.00001, "0.1 %"), (1e-12, "0.1 %")]
)
def test_what_differs_at_most_is_never_said_to_be_zero(share: float, text: str) -> None:
    assert numbers.most(share) == text


@given(st.floats(min_value=0.00001, max_value=9.0))
def test_what_is_written_is_at_least_and_at_most_what_it_says(share: float) -> None:
    below, above = (
        float(written(share).removesuffix(" %")) / 100 for written in (numbers.least, numbers.most)
    )
    assert below <= share * (1 + 1e-8)
    assert above >= share * (1 - 1e-8)
    assert above - below <= (0.0011 if share < 1 else 0.011)


@pytest.mark.parametrize(
    ("shares", "text"),
    [
        ((0.109, -0.11), "10.9 to 11.0 %"),
        ((0.109, 0.1091), "10.9 %"),
        ((0.0004, 0.003), "up to 0.3 %"),
        ((0.0001, 0.0004), "less than 0.1 %"),
        ((0.0, 0.003), "0.0 to 0.3 %"),
        ((0.0, 0.0), "0.0 %"),
    ],
)
def test_no_magnitude_that_is_not_zero_is_written_as_zero(
    shares: tuple[float, ...], text: str
) -> None:
    assert numbers.magnitudes(shares) == text
