"""A whole study made up: its plan and the records of what never ran."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from analysis_cases import (
    CLOSED,
    WORKLOAD,
    deployment,
    host,
    latency,
    measurement,
    stay,
)

from dunnage.model.check import Status
from dunnage.model.deployment import Deployment
from dunnage.model.level import Level
from dunnage.model.plan import Block, Plan, RunPlan, Skipped, StayPlan
from dunnage.model.record import OperationStats, Record, StayRecord, Usage
from dunnage.model.study import Study

DEPLOYMENTS = (
    deployment("native"),
    deployment("twin", twin_of="native"),
    deployment("docker", platform="docker"),
)
STUDY = Study.model_validate(
    {
        "dunnage": 1,
        "name": "made-up",
        "testbed": {"kind": "fake"},
        "database": {"kind": "redis"},
        "deployments": {"native": {"platform": "native"}, "docker": {"platform": "docker"}},
        "workloads": ["A"],
        "load": {"threads": [8], "duration": 4},
        "twin": "native",
        "questions": {
            "RQ1": {"baseline": "native", "against": ["docker"], "metric": "throughput"},
            "RQ2": {"baseline": "native", "against": ["docker"], "metric": "service.p95"},
        },
    }
)


def plan(blocks: int = 8, deployments: Sequence[Deployment] = DEPLOYMENTS) -> Plan:
    """Every deployment once in every block, rotated."""
    position = 0
    made = []
    for block in range(1, blocks + 1):
        stays = []
        for i in range(len(deployments)):
            name = deployments[(i + block) % len(deployments)].name
            run = RunPlan(
                id=f"b{block}-{name}-A-t8-1",
                block=block,
                deployment=name,
                workload=WORKLOAD,
                level=CLOSED,
                repeat=1,
                position=position,
                seed=position,
            )
            stays.append(StayPlan(id=f"b{block}-{name}", block=block, deployment=name, runs=(run,)))
            position += 1
        made.append(Block(index=block, stays=tuple(stays)))
    return Plan(
        study="made-up",
        seed=1,
        deployments=tuple(deployments),
        blocks=tuple(made),
        skipped=(Skipped(deployment="swarm", reason="no IPVS"),),
    )


def at_level(planned: Plan, level: Level) -> Plan:
    """The same plan with one level of another kind."""
    blocks = []
    for block in planned.blocks:
        found = []
        for each in block.stays:
            runs = tuple(run.model_copy(update={"level": level}) for run in each.runs)
            found.append(each.model_copy(update={"runs": runs}))
        blocks.append(block.model_copy(update={"stays": tuple(found)}))
    return planned.model_copy(update={"blocks": tuple(blocks)})


def record(**changed: Any) -> Record:
    known: dict[str, Any] = {
        "run": "b1-native-A-t8-1",
        "stay": "b1-native",
        "block": 1,
        "deployment": "native",
        "workload": WORKLOAD,
        "level": CLOSED,
        "repeat": 1,
        "position": 0,
        "started": 0.0,
        "ended": 5.0,
        "status": Status.VALID,
        "checks": (),
        "measurement": measurement(),
        "usage": (host(),),
    }
    return Record(**(known | changed))


def records(planned: Plan, overhead: float, noise: float = 0.004, seed: int = 7) -> list[Record]:
    """Docker answers `overhead` fewer operations and takes as much longer."""
    chance = np.random.default_rng(seed)
    made = []
    for run in planned.runs():
        factor = 1 - overhead if run.deployment == "docker" else 1.0
        block = 1 + 0.2 * (run.block % 3)
        operations = round(40_000 * factor * block * float(np.exp(chance.normal(0, noise))))
        slower = float(np.exp(chance.normal(0, noise))) / factor
        stats = OperationStats(count=operations, errors={}, service=latency(slower), response=None)
        made.append(
            record(
                run=run.id,
                stay=f"b{run.block}-{run.deployment}",
                block=run.block,
                deployment=run.deployment,
                position=run.position,
                measurement=measurement(operations={"all": stats, "read": stats}),
                usage=(host(whole=Usage(cpu=operations * 1e-5 * slower, memory_resident=2.0**20)),),
            )
        )
    return made


def stays(planned: Plan) -> list[StayRecord]:
    return [
        stay(staying.deployment, staying.block, stay=staying.id)
        for block in planned.blocks
        for staying in block.stays
    ]
