"""The plan: every block, stay and run of a study, in order."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from dunnage.model.deployment import Deployment, Workload
from dunnage.model.level import Level
from dunnage.model.value import Value

PLAN_VERSION = 5
"""1: first. 2: levels by share of a capacity and by search, and the calibration stay. 3: groups of
hosts that rotate, and stays alone, where load comes in turns. 4: what parts are called.
5: guesses of time apart from these names."""


BEFORE = 0
"""Block number of the calibration stay."""


class RunPlan(Value):
    """One measurement of a deployment, workload and level."""

    id: str
    block: int
    deployment: str
    workload: Workload
    level: Level
    repeat: int
    """Counts from 1; above 1 only with `repeat` in the study."""
    position: int
    """Place in the whole study, from 0. Drift is tested against it."""
    seed: int


class StayPlan(Value):
    """One start of a deployment, with its runs."""

    id: str
    block: int
    deployment: str
    runs: tuple[RunPlan, ...]
    hosts: str | None = None
    """Group of hosts where load comes in turns; None: the group of its deployment."""

    def part(self, wanted: Callable[[RunPlan], bool]) -> StayPlan:
        """The stay with some of its runs."""
        return self.model_copy(update={"runs": tuple(filter(wanted, self.runs))})


class CalibrationPlan(Value):
    """A stay of the baseline before block 1 that finds its capacity."""

    deployment: Deployment
    stay: StayPlan
    """The stay and its runs have block 0. Each workload has several runs in a closed loop."""


class Block(Value):
    """One stay of every deployment, in a balanced random order."""

    index: int
    """Counts from 1."""
    stays: tuple[StayPlan, ...]
    alone: StayPlan | None = None
    """Where load comes in turns: an extra stay of one deployment alone. Its runs show the cost of
    neighbours; no other estimate uses them."""

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
    """What the study will do. Written before anything starts, and never changed."""

    version: int = PLAN_VERSION
    study: str
    seed: int
    deployments: tuple[Deployment, ...]
    blocks: tuple[Block, ...]
    skipped: tuple[Skipped, ...] = ()
    calibration: CalibrationPlan | None = None
    """None if no level is a share of a capacity."""

    def runs(self) -> Iterator[RunPlan]:
        """All runs in their order."""
        return (run for block in self.blocks for stay in block.stays for run in stay.runs)

    def alone(self) -> Iterator[RunPlan]:
        """All runs of deployments that are measured alone, in addition to their turns."""
        return (run for block in self.blocks if block.alone for run in block.alone.runs)

    def losing(self) -> Iterator[Deployment]:
        """Deployments with a `loss`, once each. A twin has the loss of its original, and is
        returned only in a plan without its original.
        """
        losing = [each for each in self.deployments if each.loss]
        names = {each.name for each in losing}
        return (each for each in losing if each.twin_of is None or each.twin_of not in names)

    def brought_up(self) -> tuple[Deployment, ...]:
        """Its deployments, and the one whose capacity is found before them, if that is another."""
        if self.calibration is None:
            return self.deployments
        return (*self.deployments, self.calibration.deployment)

    def deployment(self, name: str) -> Deployment:
        """The resolved deployment called `name`; KeyError when the plan has none."""
        return {each.name: each for each in self.deployments}[name]
