"""Histograms are added exactly, over parts and over runs."""

from __future__ import annotations

import pytest
from analysis_logs import hlog

from dunnage.analysis.runs import Setting
from dunnage.findings.tails.curves import curves


def test_four_logs_of_unequal_rate_give_the_quantiles_of_all_operations() -> None:
    fast = [hlog({"read.service": [1_000_000] * 9000}) for _ in range(3)]
    slow = hlog({"read.service": [100_000_000] * 90})
    (found,) = curves("native", Setting("A", "t8"), [*fast, slow])
    at = {round(share, 6): seconds for share, seconds in found.points}
    p99 = max(seconds for share, seconds in at.items() if share <= 0.99)
    averaged = (3 * 0.001 + 0.1) / 4
    assert found.count == 27_090
    assert p99 == pytest.approx(0.001, rel=0.01)
    assert averaged > 20 * p99


def test_operation_types_are_joined_and_the_warm_up_is_left_out() -> None:
    log = hlog(
        {
            "read.service": [1_000_000] * 10,
            "update.service": [2_000_000] * 10,
            "warmup.read.service": [9_000_000] * 10,
            "read.response": [3_000_000] * 5,
        }
    )
    service, response = curves("native", Setting("A", "r100"), [log])
    assert (service.kind, service.count) == ("service", 20)
    assert service.points[-1] == pytest.approx((0.5, 0.001), rel=0.01)
    assert service.maximum == pytest.approx(0.002, rel=0.01)
    assert (response.kind, response.count) == ("response", 5)
    assert response.points == ()


def test_shares_and_seconds_never_fall_along_a_curve() -> None:
    (found,) = curves(
        "n", Setting("A", "t1"), [hlog({"read.service": [i * 1000 for i in range(1, 5000)]})]
    )
    assert list(found.points) == sorted(found.points)


def test_no_logs_give_no_curve() -> None:
    assert curves("native", Setting("A", "t8"), []) == []


@pytest.mark.parametrize(
    ("count", "deepest"), [(9, None), (1000, 0.99), (100_000, 0.9999), (500_000, 0.9999)]
)
def test_a_curve_ends_where_ten_operations_are_left_or_at_four_nines(
    count: int, deepest: float | None
) -> None:
    (found,) = curves("n", Setting("A", "t1"), [hlog({"read.service": range(1000, 1000 + count)})])
    shares = [share for share, _ in found.points]
    assert (shares[-1] if shares else None) == deepest
    assert set(shares) >= {share for share in (0.5, 0.9, 0.99) if deepest and share <= deepest}
