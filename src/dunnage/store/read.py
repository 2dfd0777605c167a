"""Reads a result directory, on the machine that measured or on any other."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import TypeVar

from pydantic import ValidationError

from dunnage.errors import NoResultError, ResultError
from dunnage.model.calibration import Calibration
from dunnage.model.look import Look
from dunnage.model.loss import KnownLoss, Losses
from dunnage.model.plan import BEFORE, Plan, RunPlan
from dunnage.model.record import Record, StayRecord
from dunnage.model.value import Scalar, Value
from dunnage.store.layout import ResultLayout

V = TypeVar("V", bound=Value)

_PLANS = ("plan.json", "*/plan.json", "*/*/plan.json")
"""Of a result, of a study with its results, of all results."""
_MOST_FILES = 1000


@dataclass(frozen=True)
class Result:
    """One execution of a study, as far as it went."""

    layout: ResultLayout

    @cached_property
    def plan(self) -> Plan:
        """What was to be done: the first plan and all blocks that were added to it."""
        first = _read(self.layout.plan, Plan)
        added = [_read(path, Plan) for path in self.layout.further_plans()]
        blocks = (*first.blocks, *(block for plan in added for block in plan.blocks))
        return first.model_copy(update={"blocks": blocks})

    @cached_property
    def looks(self) -> tuple[Look, ...]:
        """Every look after which blocks were added, in order.

        A line without its plan is of an addition that a crash prevented, and no look. Raises
        ResultError when blocks were added without a look: then nobody knows what was seen before.
        """
        text = _text(self.layout.looks) if self.layout.looks.exists() else ""
        looks = {look.plan: look for look in lines_of(text, Look)}
        numbers = range(2, len(self.layout.further_plans()) + 2)
        lost = [number for number in numbers if number not in looks]
        if lost:
            raise ResultError(
                f"lacks the look that led to `{self.layout.further_plan(lost[0]).name}`",
                where=str(self.layout.looks),
            )
        return tuple(looks[number] for number in numbers)

    @cached_property
    def records(self) -> tuple[Record, ...]:
        """All finished runs, in the order of the plan."""
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
    def stays(self) -> tuple[StayRecord, ...]:
        """Every deployment of a block that became ready, by name of stay."""
        paths = sorted(self.layout.stays.glob("*/stay.json"))
        return tuple(stay for path in paths if (stay := _read(path, StayRecord)).block != BEFORE)

    @property
    def study_text(self) -> str:
        """The study file as given."""
        return _text(self.layout.study)

    @cached_property
    def environment(self) -> Mapping[str, Scalar]:
        """Facts about the machine; empty when nothing had started."""
        if not self.layout.environment.exists():
            return {}
        try:
            facts: Mapping[str, Scalar] = json.loads(_text(self.layout.environment))
        except (ValueError, RecursionError) as error:
            raise ResultError(
                f"is not JSON: {error}", where=str(self.layout.environment)
            ) from error
        return facts

    def _recorded(self, runs: Iterable[RunPlan]) -> tuple[str, ...]:
        """Names of those runs that have a record, each once."""
        names = (run.id for run in runs if self.layout.record(run.id).exists())
        return tuple(dict.fromkeys(names))

    def _records(self, runs: Iterable[RunPlan]) -> tuple[Record, ...]:
        return tuple(_read(self.layout.record(name), Record) for name in self._recorded(runs))

    def finished(self) -> frozenset[str]:
        """Names of all runs that have a record."""
        return frozenset(self._recorded(self.plan.runs()))

    def complete(self) -> bool:
        """Whether all runs have a record, those alone too, and every known loss was checked."""
        runs = (*self.plan.runs(), *self.plan.alone())
        checked = {name for name, loss in self.losses.items() if loss.checked is not None}
        losing = {deployment.original for deployment in self.plan.losing()}
        return len(self._recorded(runs)) == len(runs) and losing <= checked

    def events(self) -> Iterator[Mapping[str, Scalar]]:
        """The journal, line by line; a line that is none is passed over."""
        if not self.layout.journal.is_file():
            return
        for line in _text(self.layout.journal).splitlines():
            try:
                event = json.loads(line)
            except (ValueError, RecursionError):
                continue
            if isinstance(event, dict):
                yield event


def open_result(path: Path) -> Result:
    """Open a result directory; a study's directory stands for its newest result.

    Raises NoResultError when there is none.
    """
    for pattern in _PLANS:
        newest = max(_plans(path, pattern), default=None, key=lambda plan: plan.parent.name)
        if newest is not None:
            return Result(ResultLayout(newest.parent))
    raise NoResultError("there is no result here", where=str(path), hint=_near(path))


def _plans(path: Path, pattern: str) -> list[Path]:
    try:
        return list(path.glob(pattern))
    except OSError:
        return []


def _near(path: Path) -> str:
    """The command for the result that was probably meant; else the one that begins a study."""
    with suppress(OSError):
        if path.is_file():
            return f"dunnage run {shlex.quote(str(path))}"
        beside = islice(path.parent.iterdir(), _MOST_FILES)
        by_name = {entry.name: entry for entry in beside if entry.is_dir()}
        for name in get_close_matches(path.name, by_name):
            if any(_plans(by_name[name], pattern) for pattern in _PLANS):
                return f"dunnage status {shlex.quote(str(by_name[name]))}"
    return "dunnage init"


def lines_of(text: str, kind: type[V]) -> Iterator[V]:
    """The values of a file with one on each line; a line that cannot be read is left out."""
    for line in text.splitlines():
        with suppress(ValidationError):
            yield kind.model_validate_json(line)


def _text(path: Path) -> str:
    try:
        return path.read_bytes().decode(errors="replace")
    except OSError as error:
        raise ResultError(f"cannot read: {error.strerror}", where=str(path)) from error


def _read(path: Path, kind: type[V]) -> V:
    text = _text(path)
    known, version = kind.model_fields["version"].default, _version(text)
    if isinstance(version, int) and version > known:
        raise ResultError(
            f"was written by a newer Dunnage (version {version}; this one reads {known})",
            where=str(path),
        )
    try:
        return kind.model_validate_json(text)
    except ValidationError as error:
        raise ResultError(
            f"is not a {kind.__name__} that this Dunnage can read (version {version}): "
            f"{error.error_count()} fields do not fit",
            where=str(path),
        ) from error


def _version(text: str) -> object:
    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return document.get("version") if isinstance(document, dict) else None
