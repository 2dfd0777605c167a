"""Intervals and verdicts of whole results with a known truth: as often right as they say."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from simulated_results import NOISES, TRUTH, decided, holds, simulated

from dunnage.model.analysis import Verdict

FEW, MANY = 25, 600
"""Studies of a test that is part of every run, and of its proof."""
ALPHA = 0.05
CLAIMS = frozenset({Verdict.OVERHEAD, Verdict.GAIN})
EDGES = ("upper", "lower")

proof = [pytest.mark.proof, pytest.mark.timeout(1800)]


@dataclass
class Tally:
    """What so many studies said."""

    studies: int = 0
    held: Counter[str] = field(default_factory=Counter)
    said: Counter[tuple[str, Verdict]] = field(default_factory=Counter)

    def share(self, deployment: str, verdict: Verdict) -> float:
        return self.said[deployment, verdict] / self.studies


def tally(root: Path, noise: str, blocks: int, studies: int) -> Tally:
    found = Tally()
    for analysis in simulated(root, noise, blocks, studies):
        assert analysis.valid == analysis.planned
        found.studies += 1
        for deployment, comparison in decided(analysis).items():
            found.held[deployment] += holds(comparison)
            found.said[deployment, comparison.verdict] += 1
    return found


def allowance(rate: float, trials: int) -> float:
    """Two standard deviations of a share that is truly `rate`: what chance may add in so many."""
    return 2 * math.sqrt(rate * (1 - rate) / trials)


@pytest.mark.parametrize(
    ("noise", "blocks", "studies"),
    [
        ("unequal", 6, FEW),
        *(
            pytest.param(noise, blocks, MANY, marks=proof)
            for noise in NOISES
            for blocks in (6, 12, 18)
        ),
    ],
)
def test_intervals_hold_the_truth_whatever_the_noise(
    tmp_path: Path,
    noise: str,
    blocks: int,
    studies: int,
    record_property: Callable[[str, object], None],
) -> None:
    found = tally(tmp_path / "result", noise, blocks, studies)
    trials = studies * len(TRUTH)
    held = sum(found.held.values()) / trials
    wrong = sum(found.share(each, claim) for each in EDGES for claim in Verdict) / 2
    wrong -= sum(found.share(each, Verdict.INCONCLUSIVE) for each in EDGES) / 2
    record_property("seen", f"held {held:.1%}, a verdict at an edge {wrong:.1%}")
    # The comparisons of one study share their baseline, so that they count for two at most.
    room = allowance(ALPHA, 2 * studies)
    assert 0.94 - room <= held <= 0.96 + room
    # On an edge every verdict is wrong by half: beyond it, or inside it.
    assert ALPHA / 2 - room <= wrong <= ALPHA + room


@pytest.mark.parametrize("studies", [FEW, pytest.param(MANY, marks=proof)])
def test_a_true_five_percent_is_found_and_nothing_is_called_nothing(
    tmp_path: Path, studies: int, record_property: Callable[[str, object], None]
) -> None:
    """In 12 blocks whose pairs differ by 3 % (one standard deviation), at a tolerance of 3 %."""
    found = tally(tmp_path / "result", "normal", 12, studies)
    overhead = found.share("five", Verdict.OVERHEAD)
    equivalent = found.share("same", Verdict.EQUIVALENT)
    record_property("seen", f"overhead {overhead:.1%}, equivalent {equivalent:.1%}")
    assert overhead >= 0.5 - allowance(0.5, studies)
    assert equivalent >= 0.75 - allowance(0.75, studies)
    assert found.share("five", Verdict.GAIN) == 0
    assert sum(found.share("same", claim) for claim in CLAIMS) <= 0.005 + allowance(0.005, studies)
