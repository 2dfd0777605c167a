"""What carrying out a plan works with: the equipment, what is done, and what is tried again."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from dunnage.errors import DunnageError, HostLostError, RunError, StayError, failing_stay
from dunnage.model.deployment import Deployment
from dunnage.model.loss import KnownLoss
from dunnage.model.plan import Plan, StayPlan
from dunnage.model.study import CLIENT_GROUP
from dunnage.runner import hints
from dunnage.runner.interrupt import Stop
from dunnage.runner.outlook import Outlook
from dunnage.runner.patience import Patience
from dunnage.runner.progress import Watcher
from dunnage.runner.snapshots import KeptSnapshot
from dunnage.runner.stay import Equipment
from dunnage.secrets.texts import masked
from dunnage.store.events import STAY_FAILED
from dunnage.wording import alike

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
    outlook: Outlook = field(default_factory=Outlook)
    told: set[str] = field(default_factory=set)
    """Why stays failed, as far as the user was told: the same four lines for each hide the rest."""
    unmended: set[str] = field(default_factory=set)
    """Hosts that came back, on which substrates do not live yet as they must."""
    losses: Mapping[str, KnownLoss] = field(default_factory=dict)
    """Deployment that shall lose throughput → the slowdown that does it."""

    def deployment(self, planned: StayPlan) -> Deployment:
        """What a stay is of; that of the calibration may be no part of a filtered plan."""
        calibration = self.plan.calibration
        if calibration is not None and planned == calibration.stay:
            return calibration.deployment
        deployment = self.plan.deployment(planned.deployment)
        loss = self.losses.get(deployment.original)
        return deployment.model_copy(update={"slowdown": loss.share}) if loss else deployment


def until_done(
    work: Work,
    due: Callable[[], bool],
    carry_out: Callable[[], None],
    first: StayPlan,
    what: str,
) -> DunnageError | None:
    """Carry out what is due, in new stays once more if it fails; return why it did in the end.

    `first` of the stays is the one that the journal names, and `what` is what the user is told of.
    Raises InterruptedRunError when the user stopped it.
    """
    for attempt in range(1, ATTEMPTS + 1):
        if not due():
            return None
        work.stop.check()
        try:
            with hints.fitting(work.equipment.study.testbed):
                mend(work)
                carry_out()
        except (StayError, HostLostError, RunError) as error:
            why = said(error)
            work.equipment.writer.journal(STAY_FAILED, stay=first.id, attempt=attempt, why=why)
            known = alike.kind(why) in work.told
            work.told.add(alike.kind(why))
            work.watcher.say(f"{what} failed: {'the same as before' if known else why}")
            if error.hint and not known:
                study = work.equipment.writer.layout.study
                work.watcher.say(f"  try: {hints.named(error.hint, study)}")
            restore_lost(work)
            if attempt == ATTEMPTS:
                return error
    return None


def said(error: BaseException) -> str:
    """An error with all that was noted while its scope was left."""
    return "; ".join(map(masked, (str(error), *getattr(error, "__notes__", ()))))


def restore_lost(work: Work) -> None:
    """Bring lost hosts back; raises when one stays lost, or when the user stops it.

    What must live on them is mended before the next stay. A host of members comes back without the
    snapshots that it kept: they are made anew.
    """
    equipment = work.equipment
    clients = [host.name for host in equipment.testbed.group(CLIENT_GROUP)]
    with work.stop.at_once():
        for name in equipment.testbed.lost():
            equipment.testbed.restore(name)
            equipment.writer.journal("host restored", host=name)
            work.unmended.add(name)
            if name not in clients:
                work.kept.clear()


def mend(work: Work) -> None:
    """Have all substrates live again on hosts that came back; StayError where one does not yet."""
    for name in sorted(work.unmended):
        with failing_stay():
            for substrate in work.equipment.substrates.values():
                substrate.mend(name)
        work.unmended.discard(name)
