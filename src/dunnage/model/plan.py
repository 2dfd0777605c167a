"""The plan: every block, stay and run of a study, in order, before anything starts."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from dunnage.model.deployment import Deployment, Workload
from dunnage.model.level import Level
from dunnage.model.value import Value

PLAN_VERSION = 4
"""1: first. 2: levels by share of a capacity and by search, and the calibration stay. 3: groups of
hosts that rotate, and stays alone, where load comes in turns. 4: what parts are called."""


BEFORE = 0
"""The block that the calibration stay is said to be in."""


class RunPlan(Value):
    """One (deployment, workload, level) to be measured once."""

    id: str
    block: int
    deployment: str
    workload: Workload
    level: Level
    repeat: int
    """Counts from 1; above 1 only when the study repeats inside a stay."""
    position: int
    """Place in the whole study, counted from 0: what drift is tested against."""
    seed: int


class StayPlan(Value):
    """One living deployment with its runs."""

    id: str
    block: int
    deployment: str
    runs: tuple[RunPlan, ...]
    hosts: str | None = None
    """The group of hosts that it lives on, where load comes in turns; None: its deployment's."""

    def part(self, wanted: Callable[[RunPlan], bool]) -> StayPlan:
        """The stay with some of its runs."""
        return self.model_copy(update={"runs": tuple(filter(wanted, self.runs))})


class CalibrationPlan(Value):
    """A stay of the baseline before block 1, outside every block, that finds its capacity."""

    deployment: Deployment
    stay: StayPlan
    """Its block is 0, and so is that of its runs: several of each workload, in a closed loop."""


class Block(Value):
    """One round in which every deployment has one stay, in a balanced random order."""

    index: int
    """Counts from 1."""
    stays: tuple[StayPlan, ...]
    alone: StayPlan | None = None
    """Where load comes in turns: one of the deployments once more, by itself. What its runs differ
    by is what neighbours cost; no other estimate has any part of them."""

    def part(self, wanted: Callable[[RunPlan], bool]) -> Block:
        """The block with some of its runs, and without stays that have none of them."""
        stays = (stay.part(wanted) for stay in self.stays)
        alone = self.alone.part(wanted) if self.alone else None
        kept = tuple(stay for stay in stays if stay.runs)
        return self.model_copy(
            update={"stays": kept, "alone": alone if alone and alone.runs else None}
        )


class Skipped(Value):
    """A deployment that cannot run here, with the reason."""

    deployment: str
    reason: str


class Plan(Value):
    """What will be done. Written before anything starts and never changed."""

    version: int = PLAN_VERSION
    study: str
    seed: int
    deployments: tuple[Deployment, ...]
    blocks: tuple[Block, ...]
    skipped: tuple[Skipped, ...] = ()
    calibration: CalibrationPlan | None = None
    """None where no level is a share of a capacity."""

    def runs(self) -> Iterator[RunPlan]:
        """All runs in the order in which they are to happen."""
        for block in self.blocks:
            for stay in block.stays:
                yield from stay.runs

    def alone(self) -> Iterator[RunPlan]:
        """All runs of deployments that are measured by themselves beside their turns."""
        for block in self.blocks:
            if block.alone is not None:
                yield from block.alone.runs

    def losing(self) -> Iterator[Deployment]:
        """Deployments that shall lose throughput, once each: a twin loses what its original does,
        and stands for it in a plan that lacks that.
        """
        losing = [each for each in self.deployments if each.loss]
        names = {each.name for each in losing}
        return (each for each in losing if each.twin_of is None or each.twin_of not in names)

    def deployment(self, name: str) -> Deployment:
        """The resolved deployment called `name`; KeyError when the plan has none."""
        for deployment in self.deployments:
            if deployment.name == name:
                return deployment
        raise KeyError(name)
