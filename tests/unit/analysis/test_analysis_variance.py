"""Known answers for the parts of the variance: what was put in comes out, or a reason does."""

from __future__ import annotations

import numpy as np
import pytest

from dunnage.analysis.runs import Setting
from dunnage.findings.variance.sentences import inseparable
from dunnage.findings.variance.variance import (
    BLOCK,
    RUN,
    STAY,
    STAY_AND_REACTION,
    STAY_AND_RUN,
    WITHIN,
    split,
)
from dunnage.model.variance import Inseparable, VarianceSplit

TRUE = {BLOCK: 0.05**2, STAY: 0.03**2, RUN: 0.02**2}
NAMES = ("native", "twin", "docker")


def cells(
    blocks: int, repeat: int, seed: int, true: dict[str, float] | None = None
) -> dict[tuple[int, str], list[float]]:
    """Log values: deployment + block + stay + run."""
    chance = np.random.default_rng(seed)
    sd = {part: variance**0.5 for part, variance in (true or TRUE).items()}
    found = {}
    for block in range(1, blocks + 1):
        effect = chance.normal(0, sd[BLOCK])
        for place, name in enumerate(NAMES):
            stay = chance.normal(0, sd[STAY])
            runs = chance.normal(0, sd[RUN], repeat)
            mean = 0.2 if place == 2 else 0.0
            found[block, name] = (9 + mean + effect + stay + runs).tolist()
    return found


def of(blocks: int, repeat: int, seed: int, *, twins: bool = True, **true: float) -> VarianceSplit:
    names = NAMES[:2] if twins else ()
    return split(
        "throughput", Setting("A", "t8"), cells(blocks, repeat, seed, true or None), names, repeat
    )


def variances(found: VarianceSplit) -> dict[str, float]:
    return {part.part: part.variance.value for part in found.parts}


def test_with_twins_and_repeats_all_three_parts_come_back() -> None:
    seen = [variances(of(8, 2, seed)) for seed in range(1000)]
    for part, truth in TRUE.items():
        assert np.mean([found[part] for found in seen]) == pytest.approx(truth, rel=0.1)


def test_intervals_of_the_parts_hold_the_truth_as_often_as_they_say() -> None:
    held = dict.fromkeys(TRUE, 0)
    for seed in range(1000):
        for part in of(8, 2, seed).parts:
            low, high = part.variance.low, part.variance.high
            assert low is not None and high is not None
            held[part.part] += low <= TRUE[part.part] <= high
    assert all(count >= 920 for count in held.values()), held


def test_shares_add_up_to_one() -> None:
    found = of(8, 2, 3)
    assert sum(part.share for part in found.parts) == pytest.approx(1)
    assert found.absent == () and found.deployments == NAMES[:2] and found.blocks == 8


def test_without_repeats_stay_and_run_stay_one_part_and_the_reason_says_what_would_do() -> None:
    seen = [variances(of(8, 1, seed)) for seed in range(1000)]
    assert np.mean([found[STAY_AND_RUN] for found in seen]) == pytest.approx(
        TRUE[STAY] + TRUE[RUN], rel=0.1
    )
    assert of(8, 1, 1).absent == (Inseparable.NO_REPEAT,)


def test_without_twins_a_stay_is_not_told_from_a_reaction_to_the_block() -> None:
    found = of(8, 2, 1, twins=False)
    assert [part.part for part in found.parts] == [BLOCK, STAY_AND_REACTION, RUN]
    assert found.absent == (Inseparable.NO_TWIN,)
    assert found.deployments == tuple(sorted(NAMES))
    seen = [variances(of(8, 2, seed, twins=False)) for seed in range(500)]
    assert np.mean([each[BLOCK] for each in seen]) == pytest.approx(TRUE[BLOCK], rel=0.1)


def test_without_both_only_the_blocks_part_is_told_from_the_rest() -> None:
    found = of(8, 1, 1, twins=False)
    assert [part.part for part in found.parts] == [BLOCK, WITHIN]
    assert found.absent == (Inseparable.NO_REPEAT, Inseparable.NO_TWIN)


def test_a_negative_estimate_is_shown_as_zero_and_says_so() -> None:
    seen = [of(6, 2, seed, block=0.0, stay=0.0, run=0.02**2) for seed in range(20)]
    negative = [found for found in seen if any(part.truncated for part in found.parts)]
    assert negative
    for found in negative:
        zeros = [part for part in found.parts if part.truncated]
        assert all(part.variance.value == 0 and part.share == 0 for part in zeros)
        said = [text for text in inseparable(found) if "is negative" in text]
        assert len(said) == len(zeros)
        assert zeros[0].part in said[0]


@pytest.mark.parametrize("blocks", [1, 5])
def test_fewer_than_six_complete_blocks_have_no_parts(blocks: int) -> None:
    found = of(blocks, 2, 1)
    assert found.parts == ()
    assert f"there are {blocks}" in inseparable(found)[0]


def test_a_block_that_lacks_a_run_takes_no_part() -> None:
    made = cells(7, 2, 1)
    made[3, "twin"] = made[3, "twin"][:1]
    assert split("throughput", Setting("A", "t8"), made, NAMES[:2], 2).blocks == 6


def test_one_deployment_alone_has_no_parts() -> None:
    made = {cell: logs for cell, logs in cells(8, 2, 1).items() if cell[1] == "docker"}
    found = split("throughput", Setting("A", "t8"), made, (), 2)
    assert found.parts == () and "one stay only" in inseparable(found)[0]
