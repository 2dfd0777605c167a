"""Where everything lies in a result directory. One writer each, named here.

| file | written by | when |
|---|---|---|
| `study.yaml`, `plan.json` | `dunnage run` | before anything starts |
| `looks.jsonl`, `plan-2.json`, … | `dunnage run --blocks` | a look, then the blocks it added |
| `environment.json` | runner | when the testbed is open |
| `calibration.json` | runner, `run --rates-of` | once, where rates are shares of a capacity |
| `losses.json` | runner | where throughput is to be lost: before block 1, after the last |
| `journal.jsonl` | runner | one fsynced line per change of state |
| `stays/<stay>/stay.json` | runner | when a deployment is ready |
| `runs/<run>/…`, `runs/<run>/record.json` | runner | artefacts first, the record last |
| `analysis.json`, `report/` | `dunnage report` | may be deleted and remade |
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from dunnage.errors import ResultError, shown


@dataclass(frozen=True)
class ResultLayout:
    """Names inside one result directory."""

    root: Path

    @property
    def study(self) -> Path:
        """The study file as given."""
        return self.root / "study.yaml"

    @property
    def plan(self) -> Path:
        """Every block, stay and run."""
        return self.root / "plan.json"

    def further_plan(self, number: int) -> Path:
        """Blocks that were added, 2 for the first time; no plan is ever changed."""
        return self.root / f"plan-{number}.json"

    def further_plans(self) -> tuple[Path, ...]:
        """The plans of added blocks that there are, in their order."""
        found: list[Path] = []
        while (path := self.further_plan(len(found) + 2)).exists():
            found.append(path)
        return tuple(found)

    @property
    def looks(self) -> Path:
        """When somebody saw what finished blocks say and added more, line by line."""
        return self.root / "looks.jsonl"

    @property
    def environment(self) -> Path:
        """Facts about hardware, kernel, daemons and versions."""
        return self.root / "environment.json"

    @property
    def calibration(self) -> Path:
        """What the baseline is capable of."""
        return self.root / "calibration.json"

    @property
    def losses(self) -> Path:
        """The slowdowns that lose as much throughput as is asked for."""
        return self.root / "losses.json"

    @property
    def journal(self) -> Path:
        """What happened, line by line."""
        return self.root / "journal.jsonl"

    @property
    def lock(self) -> Path:
        """Held by the process that writes here."""
        return self.root / ".lock"

    @property
    def analysis(self) -> Path:
        """What was made of the records."""
        return self.root / "analysis.json"

    @property
    def report(self) -> Path:
        """The page, the tables."""
        return self.root / "report"

    @property
    def runs(self) -> Path:
        """One directory a run."""
        return self.root / "runs"

    @property
    def stays(self) -> Path:
        """One directory a stay."""
        return self.root / "stays"

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
