"""The schedule of a study: a pure function of the study and its seed.

Randomised complete blocks: each has one stay of every deployment. Drift of the machine affects all
of them equally, so the block is the unit of inference. Orders are balanced (`williams`), so neither
the place in a block nor the deployment before it counts as an effect.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dunnage.model.choices import Order
from dunnage.model.deployment import Deployment, Workload
from dunnage.model.level import Level
from dunnage.model.plan import Block, Plan, RunPlan, Skipped, StayPlan
from dunnage.model.study import Study
from dunnage.study.calibration import calibration_plan
from dunnage.study.chance import seed, shuffled
from dunnage.study.matrix import baseline, levels, workload
from dunnage.study.slots import slot
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


def _unique(wanted: str, taken: set[str]) -> str:
    """Hand out an id; names may hold hyphens, so two of them can meet in one word."""
    candidate, count = wanted, 1
    # Compared without case: a result may be copied to a file system that knows none.
    while candidate.casefold() in taken:
        count += 1
        candidate = f"{wanted}.{count}"
    taken.add(candidate.casefold())
    return candidate


def make_plan(
    study: Study, deployments: Sequence[Deployment], skipped: Sequence[Skipped] = ()
) -> Plan:
    """Return every block, stay and run of a study in order.

    `deployments` are all resolved ones; those in `skipped` get no stays and are left out. The same
    study and seed always give the same plan. In a block all deployments have their runs in the same
    order. They have the same seed for the same workload and level, so they request the same keys in
    the same order. The effect of a run's place in its stay then cancels in a pair.
    """
    left_out = {skip.deployment for skip in skipped}
    present = tuple(each for each in deployments if each.name not in left_out)
    cells = _cells(study)
    made = _Made(study)
    blocks: list[Block] = []
    for index in range(1, study.blocks + 1):
        inside: Sequence[_Cell] = cells
        if study.order is Order.RANDOM:
            inside = shuffled(cells, f"{study.seed}:cells:{index}")
        ordered = order(present, index, f"{study.seed}")
        stays = [made.stay(index, place, each, inside) for place, each in enumerate(ordered)]
        alone = None
        if study.load.turns is not None and present:
            chosen = present[(index - 1) % len(present)]
            alone = made.stay(index, ordered.index(chosen), chosen, inside, alone=True)
        blocks.append(Block(index=index, stays=tuple(stays), alone=alone))
    return Plan(
        study=study.name,
        seed=study.seed,
        deployments=present,
        blocks=tuple(blocks),
        skipped=tuple(skipped),
        calibration=calibration_plan(study, present, skipped),
    )


class _Made:
    """Makes stays one after the other: ids are unique, positions count through the study."""

    def __init__(self, study: Study) -> None:
        self._study = study
        self._width = max(2, len(str(study.blocks)))
        self._stays: set[str] = set()
        self._runs: set[str] = set()
        self._position = 0

    def stay(
        self,
        block: int,
        place: int,
        deployment: Deployment,
        cells: Sequence[_Cell],
        *,
        alone: bool = False,
    ) -> StayPlan:
        """One stay with its runs; runs of one that is `alone` have no place of their own."""
        suffix = "-alone" if alone else ""
        stay = _unique(f"b{block:0{self._width}d}-{deployment.name}{suffix}", self._stays)
        in_turns = self._study.load.turns is not None
        runs = []
        for cell in cells:
            runs.append(
                RunPlan(
                    id=_unique(f"{stay}-{cell.name}", self._runs),
                    block=block,
                    deployment=deployment.name,
                    workload=cell.workload,
                    level=cell.level,
                    repeat=cell.repeat,
                    position=self._position,
                    seed=seed(f"{self._study.seed}:run:{block}:{cell.name}"),
                )
            )
            self._position += not alone
        return StayPlan(
            id=stay,
            block=block,
            deployment=deployment.name,
            runs=tuple(runs),
            hosts=slot(deployment.hosts, place) if in_turns else None,
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
