"""Order diagnostics on series whose answer is known."""

from __future__ import annotations

import math

import numpy as np

from dunnage.analysis.order import Placed, diagnose


def study(trend: float = 0.0, jump: float = 0.0, blocks: int = 10) -> list[Placed]:
    """Three deployments in random order in every block, with overhead and block effect."""
    chance = np.random.default_rng(5)
    runs, position = [], 0
    for block in range(blocks):
        for deployment in chance.permutation(3):
            log = 0.2 * deployment + 0.1 * math.sin(block) + float(chance.normal(0, 0.003))
            log += trend * position + (jump if position >= 16 else 0.0)
            runs.append(Placed(position, block, f"d{deployment}", math.exp(log)))
            position += 1
    return runs


def test_a_trend_inside_blocks_is_found() -> None:
    found = diagnose(study(trend=0.02))
    assert found.spearman is not None and found.spearman > 0
    assert found.p is not None and found.p < 0.05


def test_quiet_studies_show_neither_trend_nor_shift() -> None:
    found = diagnose(study())
    assert found.p is not None and found.p > 0.05
    assert found.change_point is None


def test_a_shift_of_an_unblocked_study_is_found_where_it_happened() -> None:
    runs = [
        Placed(i, 1, "native", math.exp((0.1 if i >= 12 else 0.0) + 0.001 * (i % 3)))
        for i in range(30)
    ]
    assert diagnose(runs).change_point == 12


def test_a_step_between_blocks_is_no_trend_because_pairs_cancel_it() -> None:
    runs = [run._replace(value=run.value * math.exp(0.05 * (run.block >= 5))) for run in study()]
    found = diagnose(runs)
    assert found.p is not None and found.p > 0.05


def test_too_few_or_constant_values_say_nothing() -> None:
    assert diagnose(study(blocks=2)) == (None,) * 5
    assert diagnose([Placed(i, i, "d", 2.0) for i in range(20)]) == (None,) * 5
