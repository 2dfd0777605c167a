"""Runs that are made twice in a stay tell of a real result how much of its noise lies where."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from statistics import fmean, variance

import pytest
from study_process import answered

from dunnage.findings.variance.variance import BLOCK, RUN, STAY
from dunnage.model.analysis import Analysis, RunSummary
from dunnage.model.variance import VarianceSplit
from dunnage.store.read import Result, open_result
from study_worth import BLOCKS

pytestmark = [pytest.mark.live, pytest.mark.proof, pytest.mark.quiet, pytest.mark.timeout(900)]

STUDY = """
dunnage: 1
name: repeats
testbed: {kind: namespace, hosts: {db: 1, client: 1}, memory: 1GiB}
database: {kind: redis, topology: single, members: 1}
deployments:
  native: {platform: native}
twin: native
workloads: [C]
records: 1000
repeat: 2
load: {threads: [8], warmup: 500ms, duration: 2s}
blocks: 8
spare: 2
patience: 2min
sampler: {rate: 5Hz}
"""
TWINS = ("native", "native-twin")


@pytest.fixture(scope="module")
def carried(tmp_path_factory: pytest.TempPathFactory) -> tuple[Analysis, Result, Path]:
    """Eight blocks of a Redis and its twin, each run made twice; the last is the page."""
    place = tmp_path_factory.mktemp("repeats")
    (place / "study.yaml").write_text(STUDY)
    answer = answered("run", str(place / "study.yaml"), "--results", str(place))
    seen = Analysis.model_validate(answer["analysis"])
    return seen, open_result(place / "repeats"), Path(answer["page"])


def test_every_stay_makes_each_run_twice(carried: tuple[Analysis, Result, Path]) -> None:
    seen, result, _ = carried
    assert seen.missing == 0
    made: dict[str, list[int]] = {}
    for record in result.records:
        made.setdefault(record.stay, []).append(record.repeat)
    assert len(made) >= 2 * 8
    assert all(sorted(repeats) == [1, 2] for repeats in made.values()), made


def test_the_variance_lies_where_the_runs_themselves_say(
    carried: tuple[Analysis, Result, Path], record_property: Callable[[str, object], None]
) -> None:
    seen, _, page = carried
    logs = complete(seen.runs)
    if len(logs) < BLOCKS:
        pytest.skip(f"only {len(logs)} blocks have all their runs: others were disturbed")
    (found,) = (each for each in seen.variance if each.metric == "throughput")
    assert (found.deployments, found.blocks, found.absent) == (TWINS, len(logs), ())
    parts = {part.part: part for part in found.parts}
    for name, value in by_hand(logs).items():
        assert parts[name].variance.value == pytest.approx(max(0.0, value), abs=1e-12)
        assert parts[name].truncated == (value < 0)
    low, high = parts[RUN].variance.low, parts[RUN].variance.high
    assert low is not None and high is not None
    assert 0 < low < parts[RUN].variance.value < high
    assert sum(part.share for part in found.parts) == pytest.approx(1)
    assert "Where the variance lies" in page.read_text()
    record_property("seen", told(found))


def complete(runs: Sequence[RunSummary]) -> list[list[list[float]]]:
    """Log throughput of both runs of both stays, of every block that has all four."""
    blocks: dict[int, dict[str, list[float]]] = {}
    for run in runs:
        if run.status == "valid":
            stays = blocks.setdefault(run.block, {})
            stays.setdefault(run.deployment, []).append(math.log(run.values["throughput"]))
    every = ([stays.get(name, []) for name in TWINS] for _, stays in sorted(blocks.items()))
    return [stays for stays in every if all(len(stay) == 2 for stay in stays)]


def by_hand(blocks: Sequence[Sequence[Sequence[float]]]) -> Mapping[str, float]:
    """What is between runs is what two runs of a stay differ by. Means of stays differ by that too,
    halved, and means of blocks by what their stays do, halved."""
    means = [[fmean(stay) for stay in stays] for stays in blocks]
    run = fmean(variance(stay) for stays in blocks for stay in stays)
    stay = fmean(map(variance, means))
    return {RUN: run, STAY: stay - run / 2, BLOCK: variance(map(fmean, means)) - stay / 2}


def told(found: VarianceSplit) -> str:
    """How much of the variance each part has."""
    shares = ", ".join(f"{part.part} {part.share:.0%} (±{part.spread:.2%})" for part in found.parts)
    return f"{found.blocks} blocks: {shares}"
