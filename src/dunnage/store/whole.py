"""Whether a result is as it was written: every file against its checksum in the journal."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from dunnage.errors import ResultError
from dunnage.model.damage import Damage, Flaw
from dunnage.model.record import Record
from dunnage.store.checksums import Checksum, checksum, listed
from dunnage.store.read import Result
from dunnage.store.regular import regular_bytes

FINISHED = "run finished"
"""The event after which a run must have its record."""


@dataclass(frozen=True)
class Examined:
    """What was found of the files of a result."""

    damages: tuple[Damage, ...]
    files: int
    """Files that were read."""
    unlisted: int
    """Of these, files without a checksum: changes of them cannot be noticed."""


Holds = Callable[[str, bytes], bool]
"""Whether a raw file of this name holds what such a file holds."""


def examine(result: Result, holds: Holds) -> Examined:
    """Read every file that the result's numbers come from.

    What a stay left counts against each of its runs. Logs and everything that `dunnage report`
    makes are left out. `holds` is asked about raw files without a checksum.
    """
    search = _Search(result, listed(result.events()), holds)
    damages = [
        *([result.damaged_journal] if result.damaged_journal else ()),
        *search.of_the_whole(),
        *search.of_lost_runs(),
        *result.damaged_records,
        *(found for record in _records(result) for found in search.of_run(record)),
    ]
    return Examined(tuple(damages), len(search.read), search.unlisted)


def _records(result: Result) -> Iterable[Record]:
    return (*result.calibration_records, *result.alone_records, *result.records)


class _Search:
    """Reads each file once."""

    def __init__(self, result: Result, sums: Mapping[str, set[Checksum]], holds: Holds) -> None:
        self._result, self._sums, self._holds = result, sums, holds
        self._all_listed = self._name(result.layout.plan) in sums
        """Whether the result was begun by a version that keeps checksums."""
        self._damaged_stays = {found.file: found for found in result.damaged_stays}
        self.read: dict[str, Damage | None] = {}
        self.unlisted = 0

    def of_the_whole(self) -> Iterator[Damage]:
        """Files that are of no single run."""
        layout = self._result.layout
        whole = (layout.study, layout.plan, *layout.further_plans())
        later = (layout.environment, layout.calibration, layout.losses)
        for path in (*whole, *(path for path in later if self._expected(path))):
            if found := self._file(path):
                yield found

    def of_lost_runs(self) -> Iterator[Damage]:
        """Records of runs that the journal calls finished, and that are not there."""
        plan = self._result.plan
        ended = {str(e.get("run")) for e in self._result.events() if e.get("event") == FINISHED}
        planned = (run.id for run in (*plan.runs(), *plan.alone()))
        for run in (run for run in planned if run in ended):
            path = self._result.layout.record(run)
            if not path.exists():
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
            found = self._damaged_stays.get(self._name(path)) or self._file(path)
            if found:
                yield found.model_copy(update={"run": record.run})

    def _expected(self, path: Path) -> bool:
        return path.exists() or self._name(path) in self._sums

    def _name(self, path: Path) -> str:
        return str(path.relative_to(self._result.layout.root))

    def _file(self, path: Path) -> Damage | None:
        name = self._name(path)
        if name not in self.read:
            self.read[name] = self._compared(name, path)
        return self.read[name]

    def _compared(self, name: str, path: Path) -> Damage | None:
        try:
            content = regular_bytes(path)
        except FileNotFoundError:
            return Damage(file=name, flaw=Flaw.MISSING)
        except OSError as error:
            return Damage(file=name, flaw=Flaw.UNREADABLE, detail=error.strerror or "")
        known = self._sums.get(name)
        if known is None:
            self.unlisted += 1
            if self._all_listed:
                return Damage(file=name, flaw=Flaw.UNLISTED)
            whole = self._holds(path.name, content)
            return None if whole else Damage(file=name, flaw=Flaw.GARBLED)
        if checksum(content) in known:
            return None
        shorter = all(len(content) < each.size for each in known)
        return Damage(file=name, flaw=Flaw.TRUNCATED if shorter else Flaw.CHANGED)
