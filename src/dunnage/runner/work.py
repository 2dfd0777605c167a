"""What carrying out a plan works with: the equipment, what is done, and how stays come to live."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field

from dunnage import catalog
from dunnage.contracts import Substrate
from dunnage.model.deployment import Deployment
from dunnage.model.loss import KnownLoss
from dunnage.model.plan import Plan, StayPlan
from dunnage.model.study import CLIENT_GROUP
from dunnage.runner.interrupt import Stop
from dunnage.runner.progress import Watcher
from dunnage.runner.run import Patience
from dunnage.runner.snapshots import KeptSnapshot
from dunnage.runner.stay import Equipment, Stay, living

ATTEMPTS = 2
"""Stays that are tried for one planned stay, and runs for one planned run, before going on."""


@dataclass(frozen=True)
class Work:
    """What every stay is carried out with; `done` grows with every finished run."""

    equipment: Equipment
    plan: Plan
    done: set[str]
    failures: list[str]
    patience: Patience
    watcher: Watcher
    stop: Stop
    kept: dict[str, KeptSnapshot] = field(default_factory=dict)
    """Snapshots that the hosts keep, by name."""
    losses: Mapping[str, KnownLoss] = field(default_factory=dict)
    """Deployment that shall lose throughput → the slowdown that does it."""

    def deployment(self, planned: StayPlan) -> Deployment:
        """What a stay is of; that of the calibration may be no part of a filtered plan."""
        calibration = self.plan.calibration
        if calibration is not None and planned == calibration.stay:
            return calibration.deployment
        found = self.plan.deployment(planned.deployment)
        loss = self.losses.get(found.original)
        return found.model_copy(update={"slowdown": loss.share}) if loss else found


def living_stay(
    equipment: Equipment,
    plan: StayPlan,
    name: str,
    deployment: Deployment,
    kept: KeptSnapshot | None = None,
    *,
    together: bool = False,
) -> AbstractContextManager[Stay]:
    """A stay of a deployment, on the plan's group of hosts where that names one.

    Others live meanwhile where stays are `together`.
    """
    if plan.hosts is not None:
        deployment = deployment.model_copy(update={"hosts": plan.hosts})
    substrate = _substrate(equipment, deployment)
    platform = catalog.platform(deployment, equipment.testbed, substrate, equipment.trees, name)
    database = catalog.DATABASES[deployment.database.kind]()
    return living(
        plan,
        name,
        deployment,
        equipment,
        database,
        platform,
        substrate,
        kept,
        together=together,
    )


def _substrate(equipment: Equipment, deployment: Deployment) -> Substrate | None:
    family = catalog.family(deployment)
    return equipment.substrates[family] if family is not None else None


def said(error: BaseException) -> str:
    """An error with all that was noted while its scope was left."""
    return "; ".join((str(error), *getattr(error, "__notes__", ())))


def restore_lost(work: Work) -> None:
    """Bring lost hosts back, and what must live on them; raises when one stays lost.

    A host of members comes back without the snapshots that it kept: they are made anew.
    """
    equipment = work.equipment
    clients = [host.name for host in equipment.testbed.group(CLIENT_GROUP)]
    for name in equipment.testbed.lost():
        equipment.testbed.restore(name)
        for substrate in equipment.substrates.values():
            substrate.mend(name)
        equipment.writer.journal("host restored", host=name)
        if name not in clients:
            work.kept.clear()
