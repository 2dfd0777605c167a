"""A plan, a record and a stay, as small as they can be."""

from __future__ import annotations

from pathlib import Path

from dunnage.model.check import Status
from dunnage.model.choices import Phase
from dunnage.model.deployment import Workload
from dunnage.model.level import Level
from dunnage.model.plan import Block, Plan, RunPlan, StayPlan
from dunnage.model.record import Record, StayRecord
from dunnage.store.write import ResultWriter

WORKLOAD = Workload(name="A", core="A", phase=Phase.RUN, records=10)
LEVEL = Level(threads=1)
STUDY = "name: tiny\npassword: geheim\n"


def tiny_plan(*runs: str) -> Plan:
    planned = tuple(
        RunPlan(
            id=run,
            block=1,
            deployment="native",
            workload=WORKLOAD,
            level=LEVEL,
            repeat=1,
            position=position,
            seed=1,
        )
        for position, run in enumerate(runs)
    )
    stay = StayPlan(id="b01-native", block=1, deployment="native", runs=planned)
    return Plan(study="tiny", seed=1, deployments=(), blocks=(Block(index=1, stays=(stay,)),))


def tiny_record(run: str, stay: str = "b01-native") -> Record:
    return Record(
        run=run,
        stay=stay,
        block=1,
        deployment="native",
        workload=WORKLOAD,
        level=LEVEL,
        repeat=1,
        position=0,
        started=1.0,
        ended=2.0,
        status=Status.VALID,
        checks=(),
        measurement=None,
        usage=(),
    )


def tiny_stay(stay: str, facts: dict[str, str]) -> StayRecord:
    return StayRecord(
        stay=stay,
        block=1,
        deployment="native",
        started=1.0,
        ready=2.0,
        stages={},
        facts=facts,
        processes=(),
        endpoint=(),
        network={},
    )


def tiny_result(results: Path, *runs: str) -> ResultWriter:
    return ResultWriter.create(results, "tiny", STUDY, tiny_plan(*runs))
