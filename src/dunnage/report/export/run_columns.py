"""The table of all runs, column by column: name, type, unit, meaning. Pure.

Values are in SI units; the unit stands in the column's description and in the Parquet file's
field metadata. The part after the fixed columns is generated from the one table of metrics.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from dunnage.findings.analyse import SI_UNITS
from dunnage.findings.checks import reasons
from dunnage.model.analysis import RunSummary
from dunnage.model.deployment import Deployment
from dunnage.model.metrics import METRICS, Metric
from dunnage.model.plan import Plan
from dunnage.model.record import Record

RUNS_VERSION = 1
"""1: first."""

Cell = str | int | float | bool | tuple[str, ...] | None


class ColumnType(StrEnum):
    """Arrow's name of what a column holds; every column may be null."""

    TEXT = "string"
    COUNT = "int64"
    NUMBER = "double"
    TRUTH = "bool"
    TEXTS = "list<string>"
    MOMENT = "timestamp[us, tz=UTC]"


@dataclass(frozen=True)
class RunRow:
    """One finished run with everything that is known of it."""

    study: str
    summary: RunSummary
    record: Record
    deployment: Deployment


@dataclass(frozen=True)
class RunColumn:
    """One column. A moment is given in Unix seconds."""

    name: str
    type: ColumnType
    unit: str
    meaning: str
    of: Callable[[RunRow], Cell]


def rows(
    study: str, plan: Plan, summaries: Sequence[RunSummary], records: Sequence[Record]
) -> list[RunRow]:
    """All finished runs, in the order of the plan."""
    by_run = {record.run: record for record in records}
    return [
        RunRow(study, summary, by_run[summary.run], plan.deployment(summary.deployment))
        for summary in summaries
    ]


def document() -> str:
    """The schema as Markdown, for `schema/runs.parquet.md`."""
    lines = [
        "# runs.parquet",
        "",
        f"One row for each finished run, in the order of the plan. Version {RUNS_VERSION}. "
        "Written by `dunnage export`, generated from the table of metrics by `dunnage schema`. "
        "Every column may be null. The same units and meanings stand in the file's field "
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


def _metric(metric: Metric) -> RunColumn:
    def value(row: RunRow) -> Cell:
        return row.summary.values.get(metric.name)

    return RunColumn(
        name=metric.name,
        type=ColumnType.NUMBER,
        unit=SI_UNITS.get(metric.unit, metric.unit),
        meaning=f"{metric.title}: {metric.method}; {metric.better} is better",
        of=value,
    )


_TEXT, _COUNT, _NUMBER = ColumnType.TEXT, ColumnType.COUNT, ColumnType.NUMBER

_FIXED: tuple[RunColumn, ...] = (
    RunColumn("study", _TEXT, "", "name of the study", lambda row: row.study),
    RunColumn("run", _TEXT, "", "id of the run", lambda row: row.summary.run),
    RunColumn(
        "stay", _TEXT, "", "id of the living deployment it ran in", lambda row: row.summary.stay
    ),
    RunColumn(
        "block", _COUNT, "", "block, from 1: the unit of inference", lambda row: row.summary.block
    ),
    RunColumn(
        "position", _COUNT, "", "place in the study, from 0", lambda row: row.summary.position
    ),
    RunColumn("repeat", _COUNT, "", "repetition in its stay, from 1", lambda r: r.record.repeat),
    RunColumn("deployment", _TEXT, "", "name of the deployment", lambda r: r.summary.deployment),
    RunColumn(
        "twin_of",
        _TEXT,
        "",
        "deployment that it is the twin of; null for others",
        lambda row: row.deployment.twin_of,
    ),
    RunColumn("title", _TEXT, "", "canonical name of the variant", lambda r: r.deployment.title),
    RunColumn("platform", _TEXT, "", "how processes are run", lambda row: row.deployment.platform),
    RunColumn("network", _TEXT, "", "driver of the network", lambda row: row.deployment.network),
    RunColumn(
        "endpoint", _TEXT, "", "kind of address clients use", lambda r: r.deployment.endpoint
    ),
    RunColumn("storage", _TEXT, "", "what data lies on", lambda r: r.deployment.storage.value),
    RunColumn("client", _TEXT, "", "where the generator runs", lambda r: r.deployment.client.value),
    RunColumn("workload", _TEXT, "", "name of the workload", lambda row: row.summary.workload),
    RunColumn("core", _TEXT, "", "YCSB core workload", lambda row: row.record.workload.core),
    RunColumn("phase", _TEXT, "", "`load` or `run`", lambda row: row.record.workload.phase.value),
    RunColumn("records", _COUNT, "", "records loaded", lambda row: row.record.workload.records),
    RunColumn("level", _TEXT, "", "name of the load setting", lambda row: row.summary.level),
    RunColumn(
        "threads",
        _COUNT,
        "",
        "of a closed loop; null in an open load",
        lambda r: r.record.level.threads,
    ),
    RunColumn(
        "rate",
        _NUMBER,
        "op/s",
        "of an open load; null in a closed loop",
        lambda r: r.record.level.rate,
    ),
    RunColumn(
        "share",
        _NUMBER,
        "share",
        "share of the baseline's capacity that the rate was made of; null for other loads",
        lambda row: row.record.level.share,
    ),
    RunColumn(
        "over_capacity",
        ColumnType.TRUTH,
        "",
        "the deployment could not keep up with the open load: latencies say nothing",
        lambda row: row.summary.over_capacity,
    ),
    RunColumn(
        "started", ColumnType.MOMENT, "", "when the run began", lambda row: row.record.started
    ),
    RunColumn("ended", ColumnType.MOMENT, "", "when it ended", lambda row: row.record.ended),
    RunColumn(
        "status",
        _TEXT,
        "",
        "`valid`, `invalid` or `unknown`; only valid runs count",
        lambda row: row.summary.status,
    ),
    RunColumn(
        "reasons",
        ColumnType.TEXTS,
        "",
        "why it is not valid",
        lambda row: tuple(reason.text for reason in reasons.of_run(row.summary)),
    ),
    RunColumn(
        "attempts",
        _COUNT,
        "",
        "measurements made; above 1 where earlier ones were disturbed from outside",
        lambda row: len(row.record.earlier) + 1,
    ),
    RunColumn("seconds", _NUMBER, "s", "length of the measured window", lambda row: _seconds(row)),
    RunColumn(
        "data_size",
        _NUMBER,
        "B",
        "data in the database before the run",
        lambda r: r.record.data_size,
    ),
    RunColumn(
        "paused",
        _NUMBER,
        "share",
        "share of the measured time in which a declared slowdown held the servers",
        lambda row: row.summary.paused,
    ),
    RunColumn(
        "sampler_cpu",
        _NUMBER,
        "s",
        "CPU time of the samplers of all hosts in the measured window",
        lambda row: row.summary.sampler_cpu,
    ),
    RunColumn(
        "trend",
        _NUMBER,
        "share",
        "throughput of the last third of the measured window over the first, minus one",
        lambda row: row.summary.trend,
    ),
)


def _seconds(row: RunRow) -> float | None:
    return None if row.record.measurement is None else row.record.measurement.seconds


COLUMNS: tuple[RunColumn, ...] = (*_FIXED, *(_metric(metric) for metric in METRICS.values()))
"""Every column, in order."""


def cells(row: RunRow) -> Mapping[str, Cell]:
    """The values of one row by column."""
    return {column.name: column.of(row) for column in COLUMNS}
