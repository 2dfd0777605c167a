"""`time`: blocks and the length of a run, chosen for the narrowest interval."""

from __future__ import annotations

import pytest

from dunnage.analysis.fit import LENGTHS, fit, fitted
from dunnage.errors import StudyError
from dunnage.model.remembered import Pace
from dunnage.model.study import Study
from dunnage.study.expected_time import estimate_seconds
from dunnage.study.matrix import deployments
from dunnage.study.plan import make_plan
from dunnage.study.read import read_study
from offers import OFFER

TEXT = """
dunnage: 1
name: timed
testbed: {kind: namespace, hosts: {db: 3, client: 1}}
database: {kind: redis, topology: replicas, members: 3}
deployments:
  native: {platform: native}   # the baseline
  bridge: {platform: docker, network: bridge}
twin: native
workloads: [A]
load: {threads: [32], warmup: 1s}
time: 6min
questions:
  q: {baseline: native, against: [bridge]}
"""


def study(text: str = TEXT) -> Study:
    return read_study(text, "study.yaml", OFFER)


def pace(platform: str, **changed: float) -> Pace:
    known = {"stay": 2.0, "around": 0.5, "records": 10_000, "measured": 4.0, "spread": 0.03}
    return Pace(platform=platform, database="redis", **({"within": 0.5} | known | changed))


def chosen(text: str = TEXT, **changed: float) -> tuple[int, float | None]:
    paces = [pace("native", **changed), pace("docker", **changed)]
    found = fit(study(text), deployments(study(text), OFFER), paces)
    return found.blocks, found.duration


def test_noise_from_stay_to_stay_asks_for_many_short_runs_and_noise_inside_for_long_ones() -> None:
    blocks, length = chosen(within=0.0)
    assert length == LENGTHS[0]
    fewer, longer = chosen(within=1.0, stay=8.0)
    assert longer is not None and longer > length
    assert fewer < blocks


def test_whole_squares_are_taken_and_the_time_is_kept() -> None:
    of = study()
    every = deployments(of, OFFER)
    paces = [pace("native"), pace("docker")]
    found = fit(of, every, paces)
    assert found.blocks % 6 == 0
    text = fitted(TEXT, of, found)
    ready = study(text)
    assert (ready.blocks, ready.load.duration, ready.time) == (found.blocks, found.duration, None)
    plan = make_plan(ready, deployments(ready, OFFER))
    assert estimate_seconds(plan, ready, paces) <= 6 * 60
    assert text.startswith("# Chosen for `time: 360s`: ")
    assert "# the baseline" in text
    assert "as earlier results of this machine showed" in found.why


def test_a_length_that_is_given_stays_and_only_blocks_are_chosen() -> None:
    text = TEXT.replace("warmup: 1s", "warmup: 1s, duration: 10s")
    blocks, length = chosen(text)
    assert length == 10.0
    assert blocks < chosen()[0]
    counted = TEXT.replace("warmup: 1s", "warmup: 1s, operations: 20000")
    assert chosen(counted)[1] is None


def test_without_an_earlier_result_it_says_that_it_guessed() -> None:
    found = fit(study(), deployments(study(), OFFER))
    assert found.blocks >= 6
    assert "by a guess" in found.why


def test_too_short_a_time_says_that_it_makes_no_interval() -> None:
    short = TEXT.replace("6min", "20s")
    found = fit(study(short), deployments(study(short), OFFER), [pace("native"), pace("docker")])
    assert 1 <= found.blocks < 6
    assert "an interval needs 6" in found.why


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("time: 6min\nblocks: 8", "`time` chooses the number of blocks"),
        ("time: 0s", "`time` must be more than 0"),
        ("time: six", "time"),
    ],
)
def test_what_makes_no_sense_is_told_with_its_line(written: str, said: str) -> None:
    with pytest.raises(StudyError) as raised:
        study(TEXT.replace("time: 6min", written))
    assert any(said in problem.what and problem.line for problem in raised.value.problems)


def test_a_pace_of_this_machine_takes_the_place_of_the_guess() -> None:
    ready = study(TEXT.replace("time: 6min", "blocks: 6").replace("1s}", "1s, duration: 4s}"))
    plan = make_plan(ready, deployments(ready, OFFER))
    quick = [pace("native", stay=0.5), pace("docker", stay=0.5)]
    slow = [pace("native", stay=9.5), pace("docker", stay=9.5)]
    apart = estimate_seconds(plan, ready, slow) - estimate_seconds(plan, ready, quick)
    assert apart == pytest.approx(9.0 * 18)
