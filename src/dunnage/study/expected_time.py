"""How long a plan will take: by earlier results of this machine, else by guesses."""

from __future__ import annotations

import math
from collections.abc import Sequence

from dunnage.model.choices import Data, Phase
from dunnage.model.deployment import Deployment, Guess
from dunnage.model.level import Search
from dunnage.model.load import TURN_CONTROL
from dunnage.model.plan import BEFORE, Block, Plan, RunPlan, StayPlan
from dunnage.model.remembered import Pace
from dunnage.model.study import Study
from dunnage.study.snapshot import snapshot_name

PROBES = 5
"""Of a search, besides the bisection: two or three until a rate is too high, and as many that try a
refusal again."""
PROBE_SECONDS = 0.5
"""Around every probe of a search: the generator's start, and a backlog that is worked off."""
LOSS_SECONDS = 62.0
"""Of one look at what a slowdown loses."""
LOSS_LOOKS = 4
"""Until it is known, and as many again after the last block."""
TURNS_SECONDS = 0.7
"""Around every run in turns: samplers on all hosts, generators of all deployments."""
RUN_RATE = 20_000.0
"""Operations per second, without a duration or a rate that gives the length of a run."""


def estimate_seconds(plan: Plan, study: Study, paces: Sequence[Pace] = ()) -> float:
    """Return about how many seconds a plan takes; `paces` are of this machine, the latest last."""
    blocks = sum(block_seconds(block, plan, study, paces) for block in plan.blocks)
    return beside_seconds(plan, study, paces) + blocks


def beside_seconds(plan: Plan, study: Study, paces: Sequence[Pace] = ()) -> float:
    """Return about how many seconds everything takes that is no part of a block."""
    calibration = calibration_seconds(plan, study, paces)
    return calibration + snapshot_seconds(plan, study) + loss_seconds(plan, study)


def block_seconds(block: Block, plan: Plan, study: Study, paces: Sequence[Pace] = ()) -> float:
    """Return about how many seconds a block takes.

    Where load comes in turns its stays live at once, and each run is of all of them together.
    """
    found = [
        stay_seconds(stay, plan.deployment(stay.deployment), study, paces) for stay in block.stays
    ]
    if study.load.turns is None or not block.stays:
        return sum(found)
    runs = len(block.stays[0].runs)
    duration = study.load.duration or 0.0
    up = max(found) - runs * (duration + study.load.warmup)
    in_turns = duration * (1 + 2 * TURN_CONTROL / study.load.turns)
    together = runs * (len(block.stays) * in_turns + TURNS_SECONDS)
    alone = block.alone
    apart = stay_seconds(alone, plan.deployment(alone.deployment), study, paces) if alone else 0.0
    return up + together + apart


def calibration_seconds(plan: Plan, study: Study, paces: Sequence[Pace] = ()) -> float:
    """Return about how many seconds the stay before block 1 takes; 0 where there is none."""
    if plan.calibration is None:
        return 0.0
    return stay_seconds(plan.calibration.stay, plan.calibration.deployment, study, paces)


def loss_seconds(plan: Plan, study: Study) -> float:
    """Return about how many seconds it takes to find and to check every known loss."""
    return sum(
        2 * (each.guess.up + study.load.conditioning + LOSS_LOOKS * LOSS_SECONDS)
        for each in plan.losing()
    )


def snapshot_seconds(plan: Plan, study: Study) -> float:
    """Return about how many seconds stays take that only make snapshots; 0 where data is loaded."""
    if study.data is not Data.RESTORE:
        return 0.0
    makers = {snapshot_name(each, study.records): each for each in plan.deployments}
    return sum(
        each.guess.up + each.guess.settling + study.records / each.guess.loading
        for each in makers.values()
    )


def known(deployment: Deployment, paces: Sequence[Pace]) -> Pace | None:
    """The latest pace of a deployment's platform and database on this machine."""
    kind = deployment.platform, deployment.database.kind
    return next((p for p in reversed(paces) if (p.platform, p.database) == kind), None)


def stay_seconds(
    stay: StayPlan, deployment: Deployment, study: Study, paces: Sequence[Pace] = ()
) -> float:
    """Return about how many seconds one stay takes with its runs."""
    guess = deployment.guess
    pace = known(deployment, paces)
    up, around, loaded = guess.up, guess.settling, 0
    if pace is not None:
        up, around, loaded = pace.stay, pace.around, pace.records
    if study.data is not Data.RESTORE:
        records = max((run.workload.records for run in stay.runs), default=0)
        up = max(0.0, up + (records - loaded) / guess.loading)
    runs = sum(_run_seconds(run, study, guess, around) for run in stay.runs)
    return up + study.load.conditioning + runs


def _run_seconds(run: RunPlan, study: Study, guess: Guess, around: float) -> float:
    load = study.load
    if run.level.search is not None:
        probe = load.warmup + run.level.search.probe + PROBE_SECONDS
        return _probes(run.level.search) * probe + around
    if run.workload.phase is Phase.LOAD:
        measured = run.workload.records / guess.loading
    elif run.block == BEFORE:
        measured = load.calibration.duration
    elif load.duration is not None:
        measured = load.duration
    else:
        measured = (load.operations or 0) / (run.level.rate or RUN_RATE)
    return load.warmup + measured + around


def _probes(search: Search) -> int:
    """About how many loads a search makes: a factor of two is halved down to the precision."""
    halvings = math.ceil(math.log2(math.log(2) / math.log1p(search.precision)))
    return min(search.probes, PROBES + halvings)
