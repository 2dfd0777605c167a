"""Reads a result directory, on the machine that measured or on any other."""

from __future__ import annotations

import fcntl
import shlex
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

from dunnage.errors import ResultError
from dunnage.model.calibration import Calibration
from dunnage.model.damage import Damage, Flaw
from dunnage.model.look import Look
from dunnage.model.loss import KnownLoss, Losses
from dunnage.model.plan import BEFORE, Plan, RunPlan
from dunnage.model.record import Record, StayRecord
from dunnage.model.value import Scalar, Value
from dunnage.store.checksums import listed
from dunnage.store.journal import Journal
from dunnage.store.layout import MOST_PLANS, ResultLayout
from dunnage.store.newest import newest
from dunnage.store.parse import DamagedError, facts_of, lines_of, text_of, there, value_of
from dunnage.store.regular import opened_to_read

V = TypeVar("V", bound=Value)


@dataclass(frozen=True)
class Result:
    """One execution of a study, as far as it went.

    What was read is kept: who wants to know what came since opens the result again. The journal
    alone is read anew when it grew.
    """

    layout: ResultLayout

    @cached_property
    def plan(self) -> Plan:
        """What was to be done: the first plan and all blocks that were added to it."""
        first = value_of(self.layout.plan, Plan)
        added = [value_of(path, Plan) for path in self.further_plans]
        blocks = (*first.blocks, *(block for plan in added for block in plan.blocks))
        return first.model_copy(update={"blocks": blocks})

    @property
    def further_plans(self) -> tuple[Path, ...]:
        """The plans of added blocks: those that the journal knows, and where that is damaged, all
        up to the last one that is there.

        A crash may have come between a plan and the line that says that its blocks were added.
        """
        last = self.journal.last_plan()
        there = self.layout.numbers_of_plans()
        if self.journal.damage is not None:
            last = max((last, *there))
        sums = listed(self.events())  # none in a result of an older Dunnage
        while last + 1 in there and (not sums or self.layout.further_plan(last + 1).name in sums):
            last += 1
        last = min(last, MOST_PLANS)
        return tuple(self.layout.further_plan(number) for number in range(2, last + 1))

    @property
    def unannounced_plans(self) -> Mapping[int, Path]:
        """Number → a plan of added blocks that no line of the journal tells of."""
        told = self.journal.announced
        every = enumerate(self.further_plans, start=2)
        return {number: path for number, path in every if number not in told}

    @property
    def stray_plans(self) -> tuple[Path, ...]:
        """Files that are called like plans of added blocks, and are none."""
        of_ours = set(self.further_plans)
        named = map(self.layout.further_plan, self.layout.numbers_of_plans())
        return tuple(path for path in named if path not in of_ours)

    @cached_property
    def looks(self) -> tuple[Look, ...]:
        """Every look after which blocks were added, in order.

        A line without its plan is of an addition that a crash prevented, and no look. Raises
        ResultError when blocks were added without a look: then nobody knows what was seen before.
        """
        text = text_of(self.layout.looks) if self.layout.looks.exists() else ""
        looks = {look.plan: look for look in lines_of(text, Look)}
        numbers = range(2, len(self.further_plans) + 2)
        lost = [number for number in numbers if number not in looks]
        if lost:
            raise ResultError(
                f"lacks the look that led to `{self.layout.further_plan(lost[0]).name}`",
                where=str(self.layout.looks),
                hint=shlex.join(["dunnage", "verify", str(self.layout.root)]),
            )
        return tuple(looks[number] for number in numbers)

    @cached_property
    def records(self) -> tuple[Record, ...]:
        """All finished runs whose record can be read, in the order of the plan."""
        return self._records(self.plan.runs())

    @cached_property
    def alone_records(self) -> tuple[Record, ...]:
        """Finished runs of deployments by themselves, beside those that had their load in turns."""
        return self._records(self.plan.alone())

    @cached_property
    def calibration_records(self) -> tuple[Record, ...]:
        """Finished runs of the calibration stay; no estimate has any part of them."""
        return self._records(self.plan.calibration.stay.runs if self.plan.calibration else ())

    @property
    def calibration(self) -> Calibration | None:
        """What the baseline is capable of; None where that is not known, cannot be read, or is no
        matter."""
        return None if isinstance(self._calibration, Damage) else self._calibration

    @property
    def losses(self) -> Mapping[str, KnownLoss]:
        """Deployment that shall lose throughput → what is known of it; empty where none shall, or
        where it cannot be read."""
        return self._losses.found if isinstance(self._losses, Losses) else {}

    @cached_property
    def damaged_records(self) -> tuple[Damage, ...]:
        """Records of planned runs that cannot be read."""
        return tuple(found for found in self._found.values() if isinstance(found, Damage))

    @cached_property
    def stays(self) -> tuple[StayRecord, ...]:
        """Every deployment of a block that became ready, by name of stay; without what cannot be
        read of them."""
        whole = (stay for stay in self._stays if isinstance(stay, StayRecord))
        return tuple(stay for stay in whole if stay.block != BEFORE)

    @cached_property
    def damaged_stays(self) -> tuple[Damage, ...]:
        """What stays said of themselves and cannot be read."""
        return tuple(each for each in self._stays if isinstance(each, Damage))

    @cached_property
    def study_text(self) -> str:
        """The study file as given."""
        return text_of(self.layout.study)

    @property
    def environment(self) -> Mapping[str, Scalar]:
        """Facts about the machine; empty when nothing had started, or where they cannot be read."""
        return {} if isinstance(self._environment, Damage) else self._environment

    @property
    def unreadable(self) -> tuple[Damage, ...]:
        """Files of the whole result that are there and cannot be read: nothing is known of what
        they say. The plans and the study are none of them, as without them nothing can be told."""
        every = (self._environment, self._calibration, self._losses)
        return tuple(each for each in every if isinstance(each, Damage))

    @cached_property
    def _environment(self) -> Mapping[str, Scalar] | Damage:
        path = self.layout.environment
        try:
            return facts_of(path) if there(path) else {}
        except DamagedError as error:
            return Damage(file=path.name, flaw=error.flaw, detail=error.detail)

    @cached_property
    def _calibration(self) -> Calibration | Damage | None:
        path = self.layout.calibration
        return self._entry(path, Calibration) if there(path) else None

    @cached_property
    def _losses(self) -> Losses | Damage | None:
        path = self.layout.losses
        return self._entry(path, Losses) if there(path) else None

    def _recorded(self, runs: Iterable[RunPlan]) -> tuple[str, ...]:
        """Names of those runs that have a record, each once."""
        names = (run.id for run in runs if there(self.layout.record(run.id)))
        return tuple(dict.fromkeys(names))

    def _records(self, runs: Iterable[RunPlan]) -> tuple[Record, ...]:
        found = (self._found.get(name) for name in dict.fromkeys(run.id for run in runs))
        return tuple(each for each in found if isinstance(each, Record))

    @cached_property
    def _found(self) -> Mapping[str, Record | Damage]:
        """Planned run → its record, or what is wrong with that; without those that have none."""
        calibration = self.plan.calibration.stay.runs if self.plan.calibration else ()
        runs = (*calibration, *self.plan.alone(), *self.plan.runs())
        return {
            name: self._entry(self.layout.record(name), Record, name)
            for name in self._recorded(runs)
        }

    def _entry(self, path: Path, kind: type[V], run: str = "") -> V | Damage:
        """One file of many: what it holds, or what is wrong with it."""
        file = str(path.relative_to(self.layout.root))
        try:
            found = value_of(path, kind)
        except DamagedError as error:
            return Damage(file=file, flaw=error.flaw, run=run, detail=error.detail)
        if isinstance(found, Record) and found.run != run:
            return Damage(file=file, flaw=Flaw.FOREIGN, run=run, detail=found.run)
        return found

    @cached_property
    def _stays(self) -> tuple[StayRecord | Damage, ...]:
        files = sorted(self.layout.stays.glob("*/stay.json"))
        return tuple(self._entry(path, StayRecord) for path in files)

    def finished(self) -> frozenset[str]:
        """Names of all runs that have a record."""
        return frozenset(self._recorded(self.plan.runs()))

    def complete(self) -> bool:
        """Whether all runs have a record, those alone too, and every known loss was checked."""
        runs = (*self.plan.runs(), *self.plan.alone())
        checked = {name for name, loss in self.losses.items() if loss.checked is not None}
        losing = {deployment.original for deployment in self.plan.losing()}
        return len(self._recorded(runs)) == len(runs) and losing <= checked

    def in_progress(self) -> bool:
        """Whether a study is writing here now, as far as this user may know."""
        with suppress(OSError), opened_to_read(self.layout.lock) as file:
            try:
                fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
            except BlockingIOError:
                return True
        return False

    @cached_property
    def journal(self) -> Journal:
        """What happened, and what was written when."""
        return Journal(self.layout.journal)

    def events(self) -> Iterator[Mapping[str, Any]]:
        """The journal, line by line; a line that is none is passed over."""
        return self.journal.events()


def open_result(path: Path) -> Result:
    """Open a result directory, or the newest result below a directory; raises as `newest` does."""
    return Result(ResultLayout(newest(path)))
