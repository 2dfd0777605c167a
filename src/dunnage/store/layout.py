"""Where everything lies in a result directory. One writer each, named here.

| file | written by | when |
|---|---|---|
| `study.yaml`, `plan.json` | `dunnage run` | before anything starts |
| `looks.jsonl`, `plan-2.json`, … | `dunnage run --blocks` | a look, then the blocks it added |
| `environment.json` | runner | when the testbed is open |
| `calibration.json` | runner, `run --rates-of` | once, where rates are shares of a capacity |
| `losses.json` | runner | where throughput is to be lost: before block 1, after the last |
| `journal.jsonl` | runner | a fsynced line per change of state, and before a file is written |
| `stays/<stay>/stay.json` | runner | when a deployment is ready |
| `stays/<stay>/<member>.log` | runner | before a deployment is taken down |
| `stays/<stay>/account.txt` | runner | where it failed: what its cluster tells of it |
| `runs/<run>/…`, `runs/<run>/record.json` | runner | artefacts first, the record last |
| `analysis.json`, `report/` | `dunnage report` | may be deleted and remade |
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from dunnage.errors import ResultError, shown

MOST_PLANS = 1000
"""Plans of one result."""


def leads_out(path: str) -> bool:
    """Whether a path, as the journal has it, is none inside a result."""
    return any(part in ("", ".", "..") for part in path.split("/")) or not path.isprintable()


class _Inside:
    """A file or directory that every result has under one name."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __get__(self, layout: ResultLayout, _: type[ResultLayout]) -> Path:
        return layout.root / self._name


@dataclass(frozen=True)
class ResultLayout:
    """Names inside one result directory."""

    root: Path

    study = _Inside("study.yaml")
    plan = _Inside("plan.json")
    looks = _Inside("looks.jsonl")
    """When somebody saw what finished blocks say and added more, line by line."""
    environment = _Inside("environment.json")
    """Facts about hardware, kernel, daemons and versions."""
    calibration = _Inside("calibration.json")
    """What the baseline is capable of."""
    losses = _Inside("losses.json")
    """The slowdowns that lose as much throughput as is asked for."""
    journal = _Inside("journal.jsonl")
    lock = _Inside(".lock")
    """Held by the process that writes here."""
    analysis = _Inside("analysis.json")
    report = _Inside("report")
    runs = _Inside("runs")
    stays = _Inside("stays")

    def further_plan(self, number: int) -> Path:
        """Blocks that were added, 2 for the first time; no plan is ever changed."""
        return self.root / f"plan-{number}.json"

    def may_hold(self, name: str) -> bool:
        """Whether a study may write a file of this name beside its runs and stays."""
        later = (self.looks, self.environment, self.calibration, self.losses)
        known = {path.name for path in (self.study, self.plan, *later)}
        return name in known or re.fullmatch(r"plan-\d+\.json", name) is not None

    def numbers_of_plans(self) -> tuple[int, ...]:
        """The numbers of all files that are called like plans of added blocks, in their order."""
        there = {path.name for path in self.root.glob("plan-*.json")}
        numbers = range(2, MOST_PLANS + 1) if there else ()
        return tuple(number for number in numbers if self.further_plan(number).name in there)

    def run(self, run: str) -> Path:
        """Directory of one run; raises ResultError for a name that leads elsewhere."""
        return self._inside(self.runs, run)

    def record(self, run: str) -> Path:
        """The record of one run; the run did not happen without it."""
        return self.run(run) / "record.json"

    def artefact(self, run: str, name: str) -> Path:
        """One raw file that a run left; raises ResultError for a name that leads elsewhere."""
        return self._inside(self.run(run), name)

    def stay(self, stay: str) -> Path:
        """What one living deployment said of itself."""
        return self.stay_directory(stay) / "stay.json"

    def stay_directory(self, stay: str) -> Path:
        """What one stay left; raises ResultError for a name that leads elsewhere."""
        return self._inside(self.stays, stay)

    def stay_log(self, stay: str, name: str) -> Path:
        """One log of a stay; raises ResultError for a name that leads elsewhere."""
        return self._inside(self.stay_directory(stay), name)

    def _inside(self, directory: Path, name: str) -> Path:
        """A result may come from anybody: no name in it may lead out of it."""
        if name in ("", ".", "..") or "/" in name or not name.isprintable():
            raise ResultError(
                f"{shown(name)} cannot be the name of a file in a result", where=str(self.root)
            )
        return directory / name
