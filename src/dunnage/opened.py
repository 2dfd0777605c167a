"""A result opened for reading: its study, its analysis, and data frames for notebooks.

`dunnage.open(...)` returns one. Nothing is measured or written. The data frames are polars', which
is imported when the first of them is asked for, so that the command line starts quickly.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from dunnage import catalog
from dunnage.errors import DunnageError, ResultError, RunError, StudyError
from dunnage.findings.analyse import analyse, judge
from dunnage.findings.study.found import as_found
from dunnage.model.analysis import Analysis, RunSummary
from dunnage.model.histogram import is_log
from dunnage.model.load import Samples
from dunnage.model.plan import Plan
from dunnage.model.record import Record, StayRecord
from dunnage.model.study import Study
from dunnage.report.export.arrow import frame
from dunnage.report.tables.comparisons import comparisons
from dunnage.report.tables.means import summaries
from dunnage.report.tables.runs import RecordedRun, recorded_runs
from dunnage.report.tables.table import Table
from dunnage.report.tables.time_line import samples, windows
from dunnage.samplers.engine import SAMPLES
from dunnage.store.read import Result, open_result
from dunnage.store.regular import regular_bytes
from dunnage.store.whole import Examined, examine, foundation
from dunnage.study.matrix import named
from dunnage.study.read import read_stored_study
from dunnage.study.scale import share_of

if TYPE_CHECKING:
    import polars


LOG = ".hlog"
"""How the name of a latency log ends."""


class OpenedResult:
    """One execution of a study. Every property is read or computed once, when it is asked for."""

    def __init__(self, result: Result) -> None:
        self.result = result

    def __repr__(self) -> str:
        return f"<result {self.path}>"

    @property
    def path(self) -> Path:
        """The result directory."""
        return self.result.layout.root

    @cached_property
    def study(self) -> Study:
        """The study as it was given, with its defaults."""
        text, where = self.result.study_text, str(self.result.layout.study)
        try:
            return read_stored_study(text, where, catalog.OFFER)
        except StudyError as error:
            if foundation(self.result):  # it was right once: what became of it comes first
                error.hint = self._verify
            raise

    @cached_property
    def scale(self) -> float | None:
        """The share to which the study was made smaller for a quick try; None where it was not."""
        return share_of(self.result.study_text)

    @cached_property
    def plan(self) -> Plan:
        """Every block, stay and run, those that were added too. A deployment whose network nobody
        could read back is called so."""
        return as_found(named(self.result.plan, catalog.OFFER), self.stays)

    @property
    def records(self) -> tuple[Record, ...]:
        """The records of all finished runs."""
        return self.result.records

    @property
    def stays(self) -> tuple[StayRecord, ...]:
        """What each living deployment said of itself."""
        return self.result.stays

    @cached_property
    def examined(self) -> Examined:
        """Whether every file of the result is as it was written."""
        return examine(self.result, self._holds)

    @cached_property
    def judged(self) -> tuple[RunSummary, ...]:
        """Every run with a record or a damaged file, and whether it counts; as `analysis` has it,
        and also where the study cannot be read."""
        study = None
        with suppress(DunnageError):
            study = self.study
        damages = self.examined.damages
        return judge(study, self.plan, self.records, self.stays, damages)[1].runs

    @cached_property
    def analysis(self) -> Analysis:
        """Everything that the report says, made anew from the records."""
        found = analyse(
            self.study,
            self.plan,
            self.records,
            self.stays,
            self.result.environment,
            lambda run: b"".join(self.latency_logs(run)) or None,
            looks=self.result.looks,
            samples=self.host_samples,
            alone=self.result.alone_records,
            damages=self.examined.damages,
        )
        beside: dict[str, object] = {
            "invented": catalog.OFFER.testbeds[self.study.testbed.kind].fake,
            "calibration": self.result.calibration,
            "losses": self.result.losses,
        }
        if beside["invented"]:  # the clock of fake hosts runs ahead, so nobody waits so long
            beside["advice"] = tuple(
                each.model_copy(update={"seconds": None}) for each in found.advice
            )
        return found.model_copy(update=beside)

    @cached_property
    def damaged(self) -> frozenset[str]:
        """Runs that cannot be used because of a damaged file."""
        return frozenset(found.run for found in self.examined.damages if found.run)

    @property
    def _whole(self) -> tuple[Record, ...]:
        """The records of runs without a damaged file."""
        return tuple(record for record in self.records if record.run not in self.damaged)

    def latency_logs(self, run: str) -> tuple[bytes, ...]:
        """The latency logs (HdrHistogram, nanoseconds) of all parts of a run; empty without any.

        Raises ResultError when a log that the record names cannot be read.
        """
        names = [name for name in self._record(run).artefacts if name.endswith(LOG)]
        return tuple(self._artefact(run, name) for name in names)

    def host_samples(self, run: str) -> Iterator[Samples]:
        """What the samplers saw during a run, host by host; a host that left nothing is left out.

        Raises ResultError when an artefact that the record names cannot be read.
        """
        record = self._record(run)
        sampler = catalog.SAMPLERS[self.study.sampler.kind]()
        for host in record.usage:
            mark = f".{host.host}."
            files = {
                f".{name}".partition(mark)[2]: self._artefact(run, name)
                for name in record.artefacts
                if mark in f".{name}"
            }
            if not files:
                continue
            try:
                yield sampler.parse(files)
            except RunError as error:
                raise ResultError(
                    f"the samples of host `{host.host}` cannot be read: {error}",
                    where=str(self.result.layout.run(run)),
                    hint=self._verify,
                ) from error

    def recorded_runs(self) -> Table[RecordedRun]:
        """One row a finished run; the columns of `schema/runs.parquet.md`."""
        return recorded_runs(self.study.name, self.plan, self.analysis.runs, self._whole)

    @cached_property
    def runs(self) -> polars.DataFrame:
        """One row a finished run, as the Parquet file of `dunnage export` has it."""
        return frame(self.recorded_runs())

    @cached_property
    def comparisons(self) -> polars.DataFrame:
        """One row a comparison with a baseline: difference, interval, verdict, reason."""
        return frame(comparisons(self.analysis))

    @cached_property
    def summaries(self) -> polars.DataFrame:
        """One row a deployment, workload, level and metric: its mean over blocks."""
        return frame(summaries(self.analysis))

    @cached_property
    def windows(self) -> polars.DataFrame:
        """The time line of every run: one row an interval, warm-up included."""
        return frame(windows(self.analysis.runs, self._whole))

    @cached_property
    def samples(self) -> polars.DataFrame:
        """Host resources: one row a sample of a unit (a host, a member, the daemon, …)."""
        return frame(samples(self.analysis.runs, self._whole, self.host_samples))

    def _holds(self, name: str, content: bytes) -> bool:
        """Whether a raw file can be read; of those that nothing is read from, nothing is known."""
        if name.endswith(LOG):
            return is_log(content)
        if not name.endswith(SAMPLES):
            return True
        try:
            sampler = catalog.SAMPLERS[self.study.sampler.kind]()
        except DunnageError:  # without its study nobody knows who wrote it
            return True
        try:
            sampler.parse({SAMPLES: content})
        except (RunError, KeyError, TypeError, RecursionError):
            return False
        return True

    def _artefact(self, run: str, name: str) -> bytes:
        path = self.result.layout.artefact(run, name)
        try:
            return regular_bytes(path)
        except OSError as error:
            raise ResultError(
                f"cannot read: {error.strerror}", where=str(path), hint=self._verify
            ) from error

    def _record(self, run: str) -> Record:
        for record in self.records:
            if record.run == run:
                return record
        what = f"has no record of a run `{run}`"
        raise ResultError(what, where=str(self.path), hint=self._verify)

    @property
    def _verify(self) -> str:
        return shlex.join(["dunnage", "verify", str(self.path)])


def open_at(path: str | Path) -> OpenedResult:
    """Open a result directory, or the newest one below a directory; ResultError without any."""
    return OpenedResult(open_result(Path(path)))
