"""The table of all runs. Its last columns are made from the one table of metrics."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from dunnage.findings.analyse import SI_UNITS
from dunnage.findings.checks import reasons
from dunnage.model.analysis import Analysis, RunSummary
from dunnage.model.deployment import Deployment
from dunnage.model.metrics import METRICS, Metric
from dunnage.model.plan import Plan
from dunnage.model.record import Record
from dunnage.report.tables.column import Column, ColumnType, Shown, count, number, share, text
from dunnage.report.tables.table import Table, picked

RUNS_VERSION = 1
"""1: first."""


@dataclass(frozen=True)
class Run:
    """One finished run as the analysis has it."""

    summary: RunSummary


@dataclass(frozen=True)
class RecordedRun(Run):
    """One finished run with everything that is known of it."""

    study: str
    record: Record
    deployment: Deployment

    @property
    def seconds(self) -> float | None:
        """Length of the measured window."""
        return None if self.record.measurement is None else self.record.measurement.seconds


def runs(analysis: Analysis) -> Table[Run]:
    """What people read of each finished run, with every metric that some run has."""
    present = {metric for run in analysis.runs for metric in run.values}
    slowed = any(run.paused is not None for run in analysis.runs)
    names = (
        *("run", "stay", "block", "position", "deployment", "workload", "level", "status"),
        *(metric for metric in METRICS if metric in present),
        *(("paused",) if slowed else ()),
        *("sampler_cpu", "trend", "reasons"),
    )
    return Table("runs", "All runs", picked(COLUMNS, names), [Run(run) for run in analysis.runs])


def recorded_runs(
    study: str, plan: Plan, summaries: Sequence[RunSummary], records: Sequence[Record]
) -> Table[RecordedRun]:
    """All finished runs whose record can be read, in the order of the plan, with every column."""
    by_run = {record.run: record for record in records}
    rows = [
        RecordedRun(summary, study, by_run[summary.run], plan.deployment(summary.deployment))
        for summary in summaries
        if summary.run in by_run
    ]
    return Table("runs", "All runs", COLUMNS, rows)


def document() -> str:
    """The schema as Markdown, for `schema/runs.parquet.md`."""
    lines = [
        "# runs.parquet",
        "",
        f"One row for each finished run, in the order of the plan. Version {RUNS_VERSION}. "
        "Written by `dunnage export`, generated from the table of metrics by `dunnage schema`. "
        "Every column may be null. The same units and meanings are in the file's field "
        "metadata (`unit`, `meaning`), the version in its schema metadata (`dunnage.runs`).",
        "",
        "| column | type | unit | meaning |",
        "|---|---|---|---|",
    ]
    lines += [
        f"| `{column.name}` | {column.type} | {column.unit} | {column.meaning} |"
        for column in COLUMNS
    ]
    return "\n".join(lines) + "\n"


def _metric(metric: Metric) -> Column[Run]:
    return number(
        metric.name,
        lambda row: row.summary.values.get(metric.name),
        f"{metric.title}: {metric.method}; {metric.better} is better",
        SI_UNITS.get(metric.unit, metric.unit),
        Shown(metric.unit, metric.scale, digits=9),
    )


def _time(seconds: float) -> datetime:
    return datetime.fromtimestamp(seconds, tz=UTC)


_FIXED: Sequence[Column[RecordedRun]] = (
    text("study", lambda r: r.study, "name of the study"),
    text("run", lambda r: r.summary.run, "id of the run"),
    text("stay", lambda r: r.summary.stay, "id of the stay it ran in"),
    count("block", lambda r: r.summary.block, "block, from 1: the unit of inference"),
    count("position", lambda r: r.summary.position, "place in the study, from 0"),
    count("repeat", lambda r: r.record.repeat, "repetition in its stay, from 1"),
    text("deployment", lambda r: r.summary.deployment, "name of the deployment"),
    text(
        "twin_of",
        lambda r: r.deployment.twin_of,
        "deployment that it is the twin of; null for others",
    ),
    text("title", lambda r: r.deployment.title, "canonical name of the variant"),
    text("platform", lambda r: r.deployment.platform, "how processes are run"),
    text("network", lambda r: r.deployment.network, "driver of the network"),
    text("endpoint", lambda r: r.deployment.endpoint, "kind of address clients use"),
    text("storage", lambda r: r.deployment.storage.value, "storage of the data"),
    text("client", lambda r: r.deployment.client.value, "where the generator runs"),
    text("workload", lambda r: r.summary.workload, "name of the workload"),
    text("core", lambda r: r.record.workload.core, "YCSB core workload"),
    text("phase", lambda r: r.record.workload.phase.value, "`load` or `run`"),
    count("records", lambda r: r.record.workload.records, "records loaded"),
    text("level", lambda r: r.summary.level, "name of the load setting"),
    count("threads", lambda r: r.record.level.threads, "of a closed loop; null in an open load"),
    number("rate", lambda r: r.record.level.rate, "of an open load; null in a closed loop", "op/s"),
    share(
        "share",
        lambda r: r.record.level.share,
        "share of the baseline's capacity that the rate was made of; null for other loads",
    ),
    Column(
        "over_capacity",
        ColumnType.TRUTH,
        lambda r: r.summary.over_capacity,
        "the deployment could not keep up with the open load: latencies have no meaning",
    ),
    Column(
        "started",
        ColumnType.MOMENT,
        lambda r: _time(r.record.started),
        "when the run began; with fakes by their simulated clock, which runs ahead of ours",
    ),
    Column("ended", ColumnType.MOMENT, lambda r: _time(r.record.ended), "when it ended"),
    text(
        "status",
        lambda r: r.summary.status,
        "`valid`, `invalid` or `unknown`; only valid runs count",
    ),
    Column(
        "reasons",
        ColumnType.TEXTS,
        lambda r: tuple(reason.text for reason in reasons.of_run(r.summary)),
        "why it is not valid",
    ),
    count(
        "attempts",
        lambda r: len(r.record.earlier) + 1,
        "measurements made; above 1 where earlier ones were disturbed from outside",
    ),
    number("seconds", lambda r: r.seconds, "length of the measured window", "s"),
    number("data_size", lambda r: r.record.data_size, "data in the database before the run", "B"),
    number(
        "settled",
        lambda r: r.record.settled,
        "time that the run waited until the database had nothing left to do",
        "s",
    ),
    share(
        "paused",
        lambda r: r.summary.paused,
        "share of the measured time in which a declared slowdown held the servers",
        called="slowed down",
    ),
    number(
        "sampler_cpu",
        lambda r: r.summary.sampler_cpu,
        "CPU time of the samplers of all hosts in the measured window",
        "s",
        Shown("CPU s", digits=6),
        called="sampler",
    ),
    share(
        "trend",
        lambda r: r.summary.trend,
        "throughput of the last third of the measured window over the first, minus one",
    ),
)

COLUMNS: Sequence[Column[RecordedRun]] = (*_FIXED, *map(_metric, METRICS.values()))
"""Every column, in order."""
