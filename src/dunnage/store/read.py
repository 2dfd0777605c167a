"""Reads a result directory, on the machine that measured or on any other."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cached_property
from itertools import islice, zip_longest
from pathlib import Path
from typing import Any, TypeVar

from pydantic import ValidationError
from pydantic_core import from_json

from dunnage.errors import NoResultError, ResultError
from dunnage.model.calibration import Calibration
from dunnage.model.damage import Damage, Flaw
from dunnage.model.look import Look
from dunnage.model.loss import KnownLoss, Losses
from dunnage.model.plan import BEFORE, Plan, RunPlan
from dunnage.model.record import Record, StayRecord
from dunnage.model.value import Scalar, Value
from dunnage.store.events import ADDED, KEPT, OPENED
from dunnage.store.layout import ResultLayout
from dunnage.store.regular import regular_bytes

V = TypeVar("V", bound=Value)

_PLANS = ("plan.json", "*/plan.json", "*/*/plan.json")
"""Of a result, of a study with its results, of all results."""
RESULTS = Path("results")
"""Where results go unless told otherwise."""
_MOST_FILES = 1000
_MOST_ADDED = 1000
"""Additions of blocks to one result."""
_BEGINNING = '{"version"'
"""How a line of the journal begins. A crash may have cut off what follows."""


class DamagedError(ResultError):
    """A file of a result cannot be used; the rest of the result may be whole."""

    def __init__(self, what: str, path: Path, flaw: Flaw, detail: str = "", hint: str = "") -> None:
        again = shlex.join(["dunnage", "verify", str(path.parent)])
        super().__init__(what, where=str(path), hint=hint or again)
        self.flaw = flaw
        self.detail = detail


@dataclass(frozen=True)
class Result:
    """One execution of a study, as far as it went."""

    layout: ResultLayout

    @cached_property
    def plan(self) -> Plan:
        """What was to be done: the first plan and all blocks that were added to it."""
        first = _read(self.layout.plan, Plan)
        added = [_read(path, Plan) for path in self._further_plans]
        blocks = (*first.blocks, *(block for plan in added for block in plan.blocks))
        return first.model_copy(update={"blocks": blocks})

    @property
    def _further_plans(self) -> tuple[Path, ...]:
        """The plans of added blocks: those that are there, and those that the journal knows."""
        told = (event.get("plan") for event in self.events() if event.get("event") == ADDED)
        last = max((number for number in told if isinstance(number, int)), default=1)
        known = [
            self.layout.further_plan(number) for number in range(2, min(last, _MOST_ADDED) + 1)
        ]
        return tuple(dict.fromkeys((*known, *self.layout.further_plans())))

    @cached_property
    def looks(self) -> tuple[Look, ...]:
        """Every look after which blocks were added, in order.

        A line without its plan is of an addition that a crash prevented, and no look. Raises
        ResultError when blocks were added without a look: then nobody knows what was seen before.
        """
        text = _text(self.layout.looks) if self.layout.looks.exists() else ""
        looks = {look.plan: look for look in lines_of(text, Look)}
        numbers = range(2, len(self._further_plans) + 2)
        lost = [number for number in numbers if number not in looks]
        if lost:
            raise ResultError(
                f"lacks the look that led to `{self.layout.further_plan(lost[0]).name}`",
                where=str(self.layout.looks),
                hint=f"{shlex.join(['dunnage', 'run', str(self.layout.study)])}  # a new result",
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

    @cached_property
    def calibration(self) -> Calibration | None:
        """What the baseline is capable of; None where that is not known, or no matter."""
        path = self.layout.calibration
        return _read(path, Calibration) if path.exists() else None

    @cached_property
    def losses(self) -> Mapping[str, KnownLoss]:
        """Deployment that shall lose throughput → what is known of it; empty where none shall."""
        path = self.layout.losses
        return _read(path, Losses).found if path.exists() else {}

    @cached_property
    def damaged_records(self) -> tuple[Damage, ...]:
        """Records of planned runs that cannot be read."""
        return tuple(found for found in self._found.values() if isinstance(found, Damage))

    @cached_property
    def stays(self) -> tuple[StayRecord, ...]:
        """Every deployment of a block that became ready, by name of stay; without what cannot be
        read of them."""
        found = (self._entry(path, StayRecord) for path in self._stay_files())
        whole = [stay for stay in found if isinstance(stay, StayRecord)]
        return tuple(stay for stay in whole if stay.block != BEFORE)

    @cached_property
    def damaged_stays(self) -> tuple[Damage, ...]:
        """What stays said of themselves and cannot be read."""
        found = (self._entry(path, StayRecord) for path in self._stay_files())
        return tuple(each for each in found if isinstance(each, Damage))

    @property
    def study_text(self) -> str:
        """The study file as given."""
        return _text(self.layout.study)

    @cached_property
    def environment(self) -> Mapping[str, Scalar]:
        """Facts about the machine; empty when nothing had started."""
        if not self.layout.environment.exists():
            return {}
        path = self.layout.environment
        facts = _document(_text(path), path)
        if not isinstance(facts, dict):
            raise DamagedError("is not a mapping of facts", path, Flaw.GARBLED)
        return facts

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
            found = _read(path, kind)
        except DamagedError as error:
            return Damage(file=file, flaw=error.flaw, run=run, detail=error.detail)
        if isinstance(found, Record) and found.run != run:
            return Damage(file=file, flaw=Flaw.FOREIGN, run=run, detail=found.run)
        return found

    def _stay_files(self) -> list[Path]:
        return sorted(self.layout.stays.glob("*/stay.json"))

    def finished(self) -> frozenset[str]:
        """Names of all runs that have a record."""
        return frozenset(self._recorded(self.plan.runs()))

    def complete(self) -> bool:
        """Whether all runs have a record, those alone too, and every known loss was checked."""
        runs = (*self.plan.runs(), *self.plan.alone())
        checked = {name for name, loss in self.losses.items() if loss.checked is not None}
        losing = {deployment.original for deployment in self.plan.losing()}
        return len(self._recorded(runs)) == len(runs) and losing <= checked

    def events(self) -> Iterator[Mapping[str, Any]]:
        """The journal, line by line; a line that is none is passed over."""
        return (event for event in self._journal if isinstance(event, dict))

    @cached_property
    def damaged_journal(self) -> Damage | None:
        """What is wrong with the journal, beside a line that a crash cut off."""
        file = self.layout.journal.name
        if not there(self.layout.journal):
            return Damage(file=file, flaw=Flaw.MISSING)
        try:
            _text(self.layout.journal)
        except DamagedError as error:
            return Damage(file=file, flaw=error.flaw, detail=error.detail)
        every = self._journal
        bad = sum(
            isinstance(line, str) and not (line.startswith(_BEGINNING) and _begins_anew(following))
            for line, following in zip_longest(every, every[1:])
        )
        lines = "1 line" if bad == 1 else f"{bad} lines"
        return Damage(file=file, flaw=Flaw.GARBLED, detail=lines) if bad else None

    @property
    def _journal(self) -> list[Mapping[str, Any] | str]:
        """Every line: an event, or the text of what is none; nothing where it cannot be read."""
        try:
            lines = _text(self.layout.journal).splitlines()
        except DamagedError:
            return []
        return [_event(line) for line in lines if line.strip()]


def open_result(path: Path) -> Result:
    """Open a result directory; a study's directory stands for its newest result.

    Raises NoResultError when there is none.
    """
    for pattern in _PLANS:
        newest = max(_plans(path, pattern), default=None, key=lambda plan: plan.parent.name)
        if newest is not None:
            return Result(ResultLayout(newest.parent))
    with suppress(OSError):
        _insist_on_plan(ResultLayout(path))
    raise NoResultError("there is no result here", where=str(path), hint=_near(path))


def _insist_on_plan(layout: ResultLayout) -> None:
    """Raise DamagedError where a result has lost its plan."""
    study = layout.study.is_file()
    if study or layout.journal.is_file():
        hint = shlex.join(["dunnage", "run", str(layout.study)]) if study else ""
        what = "is missing: this result cannot be read"
        raise DamagedError(what, layout.plan, Flaw.MISSING, hint=hint)


def there(path: Path) -> bool:
    """Whether something is there, be it out of reach."""
    try:
        return path.exists()
    except OSError:
        return True


def _plans(path: Path, pattern: str) -> list[Path]:
    try:
        return list(path.glob(pattern))
    except OSError:
        return []


def _near(path: Path) -> str:
    """The command for the result that was probably meant; else one that makes the first result."""
    with suppress(OSError):
        if path.is_file():
            return f"dunnage run {shlex.quote(str(path))}"
        beside = islice(path.parent.iterdir(), _MOST_FILES)
        by_name = {entry.name: entry for entry in beside if entry.is_dir()}
        for name in get_close_matches(path.name, by_name):
            if any(_plans(by_name[name], pattern) for pattern in _PLANS):
                return f"dunnage status {shlex.quote(str(by_name[name]))}"
    if any(_plans(RESULTS, pattern) for pattern in _PLANS):
        return f"dunnage status {shlex.quote(str(RESULTS))}"
    return "dunnage quickstart"


def lines_of(text: str, kind: type[V]) -> Iterator[V]:
    """The values of a file with one on each line; a line that cannot be read is left out."""
    for line in text.splitlines():
        with suppress(ValidationError):
            yield kind.model_validate_json(line)


def _begins_anew(following: Mapping[str, Any] | str | None) -> bool:
    """Whether a crash may have cut off the line before this one: it is the last, or a study goes on
    after it."""
    return following is None or (
        isinstance(following, Mapping) and following.get("event") in (OPENED, KEPT)
    )


def _event(line: str) -> Mapping[str, Any] | str:
    try:
        event = json.loads(line)
    except (ValueError, RecursionError):
        return line
    return event if isinstance(event, dict) else line


def _text(path: Path) -> str:
    try:
        return regular_bytes(path).decode(errors="replace")
    except FileNotFoundError as error:
        raise DamagedError("is missing", path, Flaw.MISSING) from error
    except OSError as error:
        what = error.strerror or str(error)
        raise DamagedError(f"cannot read: {what}", path, Flaw.UNREADABLE, what) from error


def _read(path: Path, kind: type[V]) -> V:
    text = _text(path)
    document = _document(text, path)
    known = kind.model_fields["version"].default
    version = document.get("version") if isinstance(document, dict) else None
    if isinstance(version, int) and version > known:
        raise DamagedError(
            f"was written by a newer Dunnage (version {version}; this one reads {known})",
            path,
            Flaw.VERSION,
            str(version),
        )
    try:
        return kind.model_validate_json(text)
    except ValidationError as error:
        fields = "1 field does" if error.error_count() == 1 else f"{error.error_count()} fields do"
        raise DamagedError(
            f"is not a {kind.__name__} that this Dunnage can read (version {version}): "
            f"{fields} not fit",
            path,
            Flaw.GARBLED,
        ) from error


def _document(text: str, path: Path) -> Any:
    """Parse JSON; a beginning of it is told apart from what never was any."""
    try:
        return from_json(text, allow_inf_nan=False)
    except ValueError as error:
        if _begins(text):
            raise DamagedError("is truncated", path, Flaw.TRUNCATED) from error
        raise DamagedError(f"is not JSON: {error}", path, Flaw.GARBLED) from error


def _begins(text: str) -> bool:
    """Whether a text that is no JSON is the beginning of some."""
    try:
        from_json(text, allow_partial=True, allow_inf_nan=False)
    except ValueError:
        return not text.strip()
    return True
