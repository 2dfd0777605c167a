"""Whether a result is as it was written: every file against its checksum in the journal."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from dunnage.errors import ResultError, shown
from dunnage.model.damage import JOURNAL, Damage, Flaw
from dunnage.model.record import Record
from dunnage.store.checksums import checksum, listed, of_runs, run_of
from dunnage.store.events import FINISHED
from dunnage.store.journal import OUT_OF_ORDER
from dunnage.store.layout import ResultLayout, leads_out
from dunnage.store.parse import breaks_off, there
from dunnage.store.read import Result
from dunnage.store.regular import regular_bytes
from dunnage.store.sequence import went_on


@dataclass(frozen=True)
class Examined:
    """What was found of the files of a result."""

    damages: tuple[Damage, ...]
    files: int
    """Files that were examined."""
    unlisted: int
    """Of these, files without a checksum: changes of them cannot be noticed."""


SHORTER = "it is shorter than it was"
"""Of a changed file that nobody can say to be cut off rather than edited."""

Holds = Callable[[str, bytes], bool]
"""Whether a raw file of this name holds what such a file holds."""


def examine(result: Result, holds: Holds) -> Examined:
    """Read every file that the result's numbers come from.

    What a stay left counts against each of its runs. Logs and everything that `dunnage report`
    makes are left out: see `unexamined` and `unexamined_logs`. `holds` is asked about raw files
    without a checksum.
    """
    records = _records(result)  # before the journal, which has a line for each of them by then
    search = _Search(result, holds)
    search.read.update({found.file: found for found in result.damaged_records})
    damages = [
        *_of_journal(result),
        *search.of_the_whole(),
        *search.of_lost_runs(),
        *result.damaged_records,
        *(found for record in records for found in search.of_run(record)),
    ]
    damages += search.of_what_is_listed()
    damages += search.of_strangers()
    return Examined(tuple(damages), len(search.read), search.unlisted)


def unexamined(result: Result) -> tuple[str, ...]:
    """What is there of that which `dunnage report` writes again: nobody knows whether it is as it
    was written."""
    layout = result.layout
    made = (layout.analysis, layout.report)
    return tuple(path.name for path in made if path.is_symlink() or there(path))


def unexamined_logs(result: Result) -> tuple[str, ...]:
    """The logs that members left beside their stays, as paths inside the result: the journal has no
    checksum of them, and nobody can write them again."""
    layout = result.layout
    return tuple(
        sorted(str(path.relative_to(layout.root)) for path in layout.stays.glob("*/*.log"))
    )


def foundation(result: Result) -> tuple[Damage, ...]:
    """What is wrong with the files that are of no single run: the study, the plans, the looks, the
    facts of the machine, what rates are made from, and the journal that has their checksums.

    The plan need not be readable.
    """
    search = _Search(result, lambda _name, _content: True)
    return (*_of_journal(result), *search.of_the_whole())


def _of_journal(result: Result) -> Iterator[Damage]:
    """What is wrong with the journal, by itself or beside the plans that are there."""
    if (damage := result.journal.damage) is not None:
        yield damage
    elif any(went_on(result.events(), path.name) for path in result.unannounced_plans.values()):
        yield Damage(file=JOURNAL, flaw=Flaw.CHANGED, detail=OUT_OF_ORDER)


def displaced(layout: ResultLayout, run: str) -> Path | None:
    """What stands in the place of a run's directory, or of that of all runs, and is none; None
    where nothing else stands there."""
    places = (layout.runs, layout.run(run))
    return next((each for each in places if there(each) and not each.is_dir()), None)


def _records(result: Result) -> Sequence[Record]:
    return (*result.calibration_records, *result.alone_records, *result.records)


class _Search:
    """Reads each file once."""

    def __init__(self, result: Result, holds: Holds) -> None:
        self._result, self._holds = result, holds
        self._sums = listed(result.events())
        self._all_listed = result.journal.has_checksums
        self.read: dict[str, Damage | None] = {}
        self.unlisted = 0

    @cached_property
    def _unreadable(self) -> Mapping[str, Damage]:
        """What was seen when the stays, the facts of the machine and the like were read."""
        found = (*self._result.damaged_stays, *self._result.unreadable)
        return {each.file: each for each in found}

    def of_the_whole(self) -> Iterator[Damage]:
        """Files that are of no single run."""
        layout = self._result.layout
        plans = (*self._result.further_plans, *self._result.stray_plans)
        whole = (layout.study, layout.plan, *plans)
        later = (layout.looks, layout.environment, layout.calibration, layout.losses)
        for path in (*whole, *(path for path in later if self._expected(path))):
            if found := self._file(path):
                yield found

    def of_lost_runs(self) -> Iterator[Damage]:
        """Records of runs that the journal calls finished, and that are not there."""
        plan = self._result.plan
        ended = {str(e.get("run")) for e in self._result.events() if e.get("event") == FINISHED}
        planned = (run.id for run in (*plan.runs(), *plan.alone()))
        for run in planned:
            path = self._result.layout.record(run)
            if there(path) or not (run in ended or self._written(path)):
                continue
            if (other := displaced(self._result.layout, run)) is not None:
                detail = "this is no directory"
                name = self._name(other)
                yield Damage(file=name, flaw=Flaw.UNREADABLE, run=run, detail=detail)
            else:
                yield Damage(file=self._name(path), flaw=Flaw.MISSING, run=run)

    def of_run(self, record: Record) -> Iterator[Damage]:
        """The files of a run whose record can be read, and of its stay."""
        layout = self._result.layout
        own = layout.record(record.run)
        try:
            artefacts = [layout.artefact(record.run, name) for name in record.artefacts]
            stay = layout.stay(record.stay)
        except ResultError as error:
            yield Damage(file=self._name(own), flaw=Flaw.GARBLED, run=record.run, detail=error.what)
            return
        for path in (own, *artefacts, stay):
            if found := self._file(path):
                yield found.model_copy(update={"run": record.run})

    def of_what_is_listed(self) -> Iterator[Damage]:
        """Files that only the journal knows, once all others were read."""
        layout = self._result.layout
        if astray := [name for name in self._sums if leads_out(name)]:
            detail = f"it names {shown(astray[0])}, and a result has no such file"
            yield Damage(file=self._name(layout.journal), flaw=Flaw.GARBLED, detail=detail)
        newest = of_runs(self._result.events())
        for name in sorted(self._sums.keys() - self.read.keys() - set(astray)):
            if not there(layout.root / name) and self._was_written(name, newest):
                run = run_of(name)
                known = run if run in self._planned else ""
                yield Damage(file=name, flaw=Flaw.MISSING, run=known)

    def _was_written(self, name: str, newest: Mapping[str, Collection[str]]) -> bool:
        """Whether a file that only the journal knows would be there, had this study written it.

        A run that is measured again replaces all files of its directory. A stay matters to the runs
        that name it alone, and those are asked for it.
        """
        layout = self._result.layout
        room = name.partition("/")[0]
        if run := run_of(name):
            return run not in self._planned or (
                there(layout.record(run)) and name in newest.get(run, ())
            )
        if room == layout.stays.name:
            return False
        return not layout.may_hold(name) or self._written(layout.root / name)

    @cached_property
    def _planned(self) -> frozenset[str]:
        plan = self._result.plan
        calibration = plan.calibration.stay.runs if plan.calibration else ()
        return frozenset(run.id for run in (*calibration, *plan.alone(), *plan.runs()))

    def of_strangers(self) -> Iterator[Damage]:
        """Records and stays that this study did not write, once all others were read."""
        layout = self._result.layout
        paths = (*layout.runs.glob("*/record.json"), *layout.stays.glob("*/stay.json"))
        for path in sorted(paths if self._all_listed else ()):
            name = self._name(path)
            if name not in self.read and name not in self._sums and (found := self._file(path)):
                yield found

    def _expected(self, path: Path) -> bool:
        return there(path) or self._written(path) or path in self._due

    @cached_property
    def _due(self) -> frozenset[Path]:
        """Files that were written before others that are there, whatever the journal says."""
        result, layout = self._result, self._result.layout
        due = set()
        if _holds_any(layout.stays) or _holds_any(layout.runs):
            due.add(layout.environment)
        if result.further_plans:
            due.add(layout.looks)
        with suppress(ResultError):  # without its plan nobody knows more
            done = result.finished()
            measured = [run for run in result.plan.runs() if run.id in done]
            if any(run.level.share is not None for run in measured):
                due.add(layout.calibration)
            if measured and any(result.plan.losing()):
                due.add(layout.losses)
        return frozenset(due)

    def _written(self, path: Path) -> bool:
        """Whether the journal has a file that no crash can have prevented."""
        return None not in self._sums.get(self._name(path), [None])

    def _name(self, path: Path) -> str:
        return str(path.relative_to(self._result.layout.root))

    def _file(self, path: Path) -> Damage | None:
        name = self._name(path)
        if name not in self.read:
            stray = self._all_listed and name not in self._sums
            seen = None if stray else self._unreadable.get(name)
            self.read[name] = seen or self._compared(name, path)
        return self.read[name]

    def _compared(self, name: str, path: Path) -> Damage | None:
        try:
            content = regular_bytes(path)
        except FileNotFoundError:
            return Damage(file=name, flaw=Flaw.MISSING)
        except PermissionError:
            return Damage(file=name, flaw=Flaw.FORBIDDEN)
        except OSError as error:
            return Damage(file=name, flaw=Flaw.UNREADABLE, detail=error.strerror or "")
        if self._all_listed and not self._matches(name, content):
            # A study that goes on may have replaced it meanwhile.
            self._sums = listed(self._result.events())
        known = self._sums.get(name)
        if known is None:
            self.unlisted += 1
            if self._all_listed:
                return Damage(file=name, flaw=Flaw.UNLISTED)
            whole = self._holds(path.name, content)
            return None if whole else Damage(file=name, flaw=Flaw.GARBLED)
        if self._matches(name, content):
            return None
        shorter = all(each is not None and len(content) < each.size for each in known)
        if not shorter:
            return Damage(file=name, flaw=Flaw.CHANGED)
        if breaks_off(content.decode(errors="replace")):
            return Damage(file=name, flaw=Flaw.TRUNCATED)
        return Damage(file=name, flaw=Flaw.CHANGED, detail=SHORTER)

    def _matches(self, name: str, content: bytes) -> bool:
        return checksum(content) in self._sums.get(name, ())


def _holds_any(directory: Path) -> bool:
    try:
        return next(directory.iterdir(), None) is not None
    except OSError:
        return False
