"""The schedule of a study: a pure function of the study and its seed.

Randomised complete blocks: each holds one stay of every deployment, so that drift of the machine
hits all of them alike and the block can be the unit of inference. Their orders are balanced
(`williams`), so that neither the place in a block nor the deployment before counts as an effect.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from dunnage.model.plan import Block, Plan, RunPlan, Skipped, StayPlan
from dunnage.model.study import Deployment, Level, Order, Study, Workload
from dunnage.study.calibration import calibration_plan
from dunnage.study.chance import seed, shuffled
from dunnage.study.matrix import baseline, levels, workload
from dunnage.study.williams import order


@dataclass(frozen=True)
class _Cell:
    """What is to be measured once in every stay."""

    workload: Workload
    level: Level
    repeat: int

    @property
    def name(self) -> str:
        """Its part of a run's id."""
        again = f"-{self.repeat}" if self.repeat > 1 else ""
        return f"{self.workload.name}-{self.level.name}{again}"


@dataclass
class _Ids:
    """Hands out ids; names may hold hyphens, so two of them can meet in one word."""

    taken: set[str] = field(default_factory=set)

    def unique(self, wanted: str) -> str:
        candidate, count = wanted, 1
        # Compared without case: a result may be copied to a file system that knows none.
        while candidate.casefold() in self.taken:
            count += 1
            candidate = f"{wanted}.{count}"
        self.taken.add(candidate.casefold())
        return candidate


def make_plan(
    study: Study, deployments: Sequence[Deployment], skipped: Sequence[Skipped] = ()
) -> Plan:
    """Return every block, stay and run of a study in the order in which they are to happen.

    `deployments` are all resolved ones; those in `skipped` get no stays and are left out. The same
    study and seed always give the same plan. Inside one block every deployment has its runs in the
    same order, and the same seed for the same workload and level, so that the same keys are asked
    for in the same order: what a run's place in its stay does then cancels in a pair.
    """
    left_out = {skip.deployment for skip in skipped}
    present = tuple(each for each in deployments if each.name not in left_out)
    cells = _cells(study)
    width = max(2, len(str(study.blocks)))
    stay_ids, run_ids = _Ids(), _Ids()
    position = 0
    blocks: list[Block] = []
    for index in range(1, study.blocks + 1):
        stays: list[StayPlan] = []
        inside: Sequence[_Cell] = cells
        if study.order is Order.RANDOM:
            inside = shuffled(cells, f"{study.seed}:cells:{index}")
        for deployment in order(present, index, f"{study.seed}"):
            stay = stay_ids.unique(f"b{index:0{width}d}-{deployment.name}")
            runs: list[RunPlan] = []
            for cell in inside:
                runs.append(
                    RunPlan(
                        id=run_ids.unique(f"{stay}-{cell.name}"),
                        block=index,
                        deployment=deployment.name,
                        workload=cell.workload,
                        level=cell.level,
                        repeat=cell.repeat,
                        position=position,
                        seed=seed(f"{study.seed}:run:{index}:{cell.name}"),
                    )
                )
                position += 1
            stays.append(
                StayPlan(id=stay, block=index, deployment=deployment.name, runs=tuple(runs))
            )
        blocks.append(Block(index=index, stays=tuple(stays)))
    return Plan(
        study=study.name,
        seed=study.seed,
        deployments=present,
        blocks=tuple(blocks),
        skipped=tuple(skipped),
        calibration=calibration_plan(study, present, skipped),
    )


def _cells(study: Study) -> tuple[_Cell, ...]:
    """Return every workload, level and repeat in the published order: levels ascending."""
    ascending = sorted(levels(study.load, baseline(study)), key=lambda level: level.weight)
    return tuple(
        _Cell(workload(spec, study), level, repeat)
        for spec in study.workloads
        for level in ascending
        for repeat in range(1, study.repeat + 1)
    )
