"""Made-up studies by the hundred: records with a known overhead under drift, blocks and noise."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import lru_cache

import numpy as np
from analysis_cases import CLOSED, WORKLOAD, deployment, measurement
from analysis_study import record
from numpy.typing import NDArray

from dunnage.findings.analyse import analyse
from dunnage.model.analysis import Analysis
from dunnage.model.plan import Block, Plan, RunPlan, StayPlan
from dunnage.model.record import OperationStats, Record
from dunnage.model.study import Study

OVERHEADS = {"native": 0.0, "twin": 0.0, "same": 0.0, "three": 0.03, "ten": 0.10}
"""Deployment → how much more throughput than native it truly has."""
DEPLOYMENTS = (
    deployment("native"),
    deployment("twin", twin_of="native"),
    *(deployment(name, platform="docker") for name in ("same", "three", "ten")),
)
ORDERS = 20
"""Random orders that simulations share; the noise is always new."""
_OPERATIONS = 4_000_000
"""So many that rounding them to whole ones is no noise."""
_EMPTY = measurement(operations={}, windows=())
_RECORD = record(measurement=_EMPTY, usage=())


def study(*against: str, tolerance: float = 0.001) -> Study:
    """One question on throughput, as it is so strict that only the A/A bound keeps from claims."""
    return Study.model_validate(
        {
            "dunnage": 1,
            "name": "simulated",
            "testbed": {"kind": "fake"},
            "database": {"kind": "redis"},
            "deployments": {name: {"platform": "native"} for name in OVERHEADS if name != "twin"},
            "workloads": ["A"],
            "load": {"threads": [8], "duration": 4},
            "twin": "native",
            "questions": {
                "RQ1": {"baseline": "native", "against": list(against), "tolerance": tolerance}
            },
        }
    )


@lru_cache(maxsize=64)
def plan(blocks: int, seed: int, *, interleaved: bool = True) -> Plan:
    """Every deployment once in every block: in random order, or one deployment after the other."""
    chance = np.random.default_rng(seed)
    names = [each.name for each in DEPLOYMENTS]
    made = []
    for block in range(1, blocks + 1):
        order = chance.permutation(len(names)).tolist()
        stays = []
        for place, which in enumerate(order):
            name = names[which]
            position = (
                (block - 1) * len(names) + place if interleaved else which * blocks + block - 1
            )
            run = RunPlan(
                id=f"b{block}-{name}",
                block=block,
                deployment=name,
                workload=WORKLOAD,
                level=CLOSED,
                repeat=1,
                position=position,
                seed=position,
            )
            stays.append(StayPlan(id=run.id, block=block, deployment=name, runs=(run,)))
        made.append(Block(index=block, stays=tuple(stays)))
    return Plan(study="simulated", seed=1, deployments=DEPLOYMENTS, blocks=tuple(made))


def over_time(drift: str, slots: int, chance: np.random.Generator) -> NDArray[np.float64]:
    """What the machine does meanwhile: 10 % of linear drift, or AR(1) with φ = 0.8."""
    if drift == "linear":
        return np.linspace(0, 0.10, slots)
    line = np.zeros(slots)
    shocks = chance.normal(0, 0.01, slots)
    for slot in range(1, slots):
        line[slot] = 0.8 * line[slot - 1] + shocks[slot]
    return line


def records(planned: Plan, drift: str, seed: int, *, block_effect: float = 0.05) -> list[Record]:
    """Throughput = overhead · block effect · drift · lognormal noise of 2 %, for every run."""
    chance = np.random.default_rng(seed)
    runs = list(planned.runs())
    machine = over_time(drift, len(runs), chance)
    effects = chance.normal(0, block_effect, len(planned.blocks))
    noise = chance.normal(0, 0.02, len(runs))
    made = []
    for place, run in enumerate(runs):
        log = (
            math.log1p(OVERHEADS[run.deployment])
            + machine[run.position]
            + effects[run.block - 1]
            + noise[place]
        )
        stats = OperationStats.model_construct(
            count=round(_OPERATIONS * math.exp(log)), errors={}, service=None, response=None
        )
        made.append(
            _RECORD.model_copy(
                update={
                    "run": run.id,
                    "stay": run.id,
                    "block": run.block,
                    "deployment": run.deployment,
                    "position": run.position,
                    "measurement": _EMPTY.model_copy(update={"operations": {"all": stats}}),
                }
            )
        )
    return made


def simulated(
    asked: Study, blocks: int, drift: str, studies: int, *, interleaved: bool = True
) -> Iterator[Analysis]:
    """Analyses of so many studies, from their records; every seed is fixed."""
    for seed in range(studies):
        planned = plan(blocks, seed % ORDERS, interleaved=interleaved)
        effect = 0.05 if interleaved else 0.0
        made = records(planned, drift, 1000 + seed, block_effect=effect)
        yield analyse(asked, planned, made, (), {}, lambda _: None)
