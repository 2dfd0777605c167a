"""Results made up by the hundred, whole: files on disk, gates, parity, a known truth, and noise."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from analysis_cases import evidence, measurement, process, windows
from numpy.typing import NDArray

from dunnage import catalog
from dunnage.analysis.checks import judge, status
from dunnage.model.analysis import Analysis, Comparison
from dunnage.model.plan import Plan, RunPlan
from dunnage.model.record import OperationStats, Record, StayRecord
from dunnage.opened import OpenedResult
from dunnage.store.layout import ResultLayout
from dunnage.store.read import open_result
from dunnage.study.matrix import deployments
from dunnage.study.plan import make_plan
from dunnage.study.read import read_study

TRUTH: Mapping[str, float] = {
    "same": 0.0,
    "upper": 0.03,
    "lower": -0.03,
    "five": -0.05,
}
"""Deployment → how much more throughput than native it truly has: none, either edge of the
tolerance, and 5 % less."""
RUN = 0.03 / math.sqrt(2)
"""Noise of a run's log throughput, which makes that of a pair 3 %."""
_OPERATIONS = 4_000_000
_WINDOWS = 20

Line = NDArray[np.float64]
Chance = np.random.Generator


@dataclass(frozen=True)
class Noise:
    """What a study's runs differ by beside the truth, on logarithms."""

    run: Callable[[Chance, int], Line]
    """Of each run, in the order of the plan."""
    machine: Callable[[Chance, int], Line] = lambda _, runs: np.zeros(runs)
    """What the machine does meanwhile, from run to run."""
    stay: float = 0.0
    """Standard deviation between stays."""
    louder: float = 1.0
    """How much noisier than native all others are."""


def _normal(chance: Chance, runs: int) -> Line:
    return chance.normal(0, RUN, runs)


def _heavy(chance: Chance, runs: int) -> Line:
    """Student's t with five degrees of freedom, of the same standard deviation."""
    return chance.standard_t(5, runs) * RUN / math.sqrt(5 / 3)


def _drift(chance: Chance, runs: int) -> Line:
    """10 % slower from the first run to the last, and wandering (AR(1), φ = 0.8) meanwhile."""
    wandering, shocks = np.zeros(runs), chance.normal(0, 0.01, runs)
    for at in range(1, runs):
        wandering[at] = 0.8 * wandering[at - 1] + shocks[at]
    return wandering - np.linspace(0, 0.10, runs)


NOISES: Mapping[str, Noise] = {
    "normal": Noise(_normal),
    "heavy-tails": Noise(_heavy),
    "drift": Noise(_normal, machine=_drift),
    "stays": Noise(lambda chance, runs: chance.normal(0, RUN / 2, runs), stay=RUN),
    "unequal": Noise(_normal, louder=2.0),
}

STUDY = """
dunnage: 1
name: simulated
testbed: {{kind: fake}}
database: {{kind: fake}}
deployments:
  native: {{platform: fake}}
{others}
twin: native
workloads: [A]
load: {{threads: [8], duration: 4s}}
blocks: {blocks}
generator: fake
sampler: {{kind: fake}}
questions:
{questions}
"""


def text(blocks: int) -> str:
    """A study that asks one question of each deployment whose truth is known."""
    others = "\n".join(f"  {name}: {{platform: fake}}" for name in TRUTH)
    questions = "\n".join(f"  {n}: {{baseline: native, against: [{n}]}}" for n in TRUTH)
    return STUDY.format(others=others, questions=questions, blocks=blocks)


def planned(root: Path, blocks: int) -> Plan:
    """Write what comes before any run: the study, its plan, and what each stay was."""
    layout = ResultLayout(root)
    study = read_study(text(blocks), "study.yaml", catalog.OFFER)
    plan = make_plan(study, deployments(study, catalog.OFFER))
    layout.stays.mkdir(parents=True)
    layout.study.write_text(text(blocks))
    layout.plan.write_text(plan.model_dump_json())
    layout.environment.write_text("{}")
    layout.journal.write_text('{"version": 1, "event": "testbed open"}\n')  # without checksums
    for block in plan.blocks:
        for stay in block.stays:
            made = StayRecord(
                stay=stay.id,
                block=block.index,
                deployment=stay.deployment,
                started=100.0 * block.index,
                ready=100.0 * block.index + 1,
                stages={},
                facts={"version": "7.0.15"},
                processes=(process(),),
                endpoint=("10.0.0.1:6379",),
                network={},
            )
            layout.stay_directory(stay.id).mkdir()
            layout.stay(stay.id).write_text(made.model_dump_json())
    for run in plan.runs():
        layout.run(run.id).mkdir(parents=True)
    return plan


def simulated(root: Path, noise: str, blocks: int, studies: int) -> Iterator[Analysis]:
    """Analyses of so many results that lay on the disk.

    Every seed is fixed, and none is that of another kind of noise or number of blocks.
    """
    seeds = np.random.SeedSequence([list(NOISES).index(noise), blocks]).spawn(studies)
    plan = planned(root, blocks)
    runs = list(plan.runs())
    layout = ResultLayout(root)
    for seed in seeds:
        chance = np.random.default_rng(seed)
        logs = _logs(plan, runs, NOISES[noise], chance)
        for run, log in zip(runs, logs, strict=True):
            layout.record(run.id).write_text(_record(run, log, chance).model_dump_json())
        yield OpenedResult(open_result(root)).analysis


def _logs(plan: Plan, runs: list[RunPlan], noise: Noise, chance: Chance) -> list[float]:
    """Log throughput of every run, less its mean."""
    machine = noise.machine(chance, len(runs))
    own = noise.run(chance, len(runs))
    blocks = chance.normal(0, 0.05, len(plan.blocks))
    found = []
    for run, moved, shaken in zip(runs, machine, own, strict=True):
        native = run.deployment.startswith("native")
        by_stay = chance.normal(0, noise.stay) if noise.stay else 0.0
        loud = 1.0 if native else noise.louder
        truth = math.log1p(TRUTH.get(run.deployment, 0.0))
        found.append(truth + moved + blocks[run.block - 1] + loud * (shaken + by_stay))
    return [float(log) for log in found]


def _record(run: RunPlan, log: float, chance: Chance) -> Record:
    """What a run of this throughput leaves, judged by every gate."""
    stats = OperationStats(
        count=round(_OPERATIONS * math.exp(log)), errors={}, service=None, response=None
    )
    counts = chance.normal(200, 5, _WINDOWS).round().astype(int).tolist()
    seen = evidence(measurement=measurement(operations={"all": stats}, windows=windows(counts)))
    checks = judge(seen)
    return Record(
        run=run.id,
        stay=f"b{run.block:02d}-{run.deployment}",
        block=run.block,
        deployment=run.deployment,
        workload=run.workload,
        level=run.level,
        repeat=run.repeat,
        position=run.position,
        started=10.0 * run.position,
        ended=10.0 * run.position + 5,
        status=status(checks),
        checks=checks,
        measurement=seen.measurement,
        usage=tuple(seen.usage),
    )


def decided(analysis: Analysis) -> dict[str, Comparison]:
    """Deployment → the comparison of its question."""
    return {each.question: each.comparisons[0] for each in analysis.answers}


def holds(comparison: Comparison) -> bool:
    """Whether its interval holds the truth."""
    low, high = comparison.difference.low, comparison.difference.high
    assert low is not None and high is not None
    return low <= TRUTH[comparison.deployment] <= high
