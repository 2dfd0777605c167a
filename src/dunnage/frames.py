"""Data frames of a result, for notebooks. Values are in SI units: seconds, bytes, shares of one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, cast

import polars as pl

from dunnage.analysis.values import clients_clock
from dunnage.findings.differences.answer import all_comparisons
from dunnage.model.analysis import Comparison
from dunnage.model.load import Samples
from dunnage.model.record import Record, Usage
from dunnage.report.export import run_columns
from dunnage.report.export.parquet import runs_table
from dunnage.wording.verdict import reason

if TYPE_CHECKING:
    from dunnage.opened import OpenedResult

_PLACE = {
    "run": pl.String,
    "deployment": pl.String,
    "workload": pl.String,
    "level": pl.String,
    "block": pl.Int64,
    "status": pl.String,
}
"""Where a row of a time line belongs."""


def runs(opened: OpenedResult) -> pl.DataFrame:
    """The table that `schema/runs.parquet.md` describes."""
    rows = run_columns.rows(opened.study.name, opened.plan, opened.analysis.runs, opened.records)
    return cast("pl.DataFrame", pl.from_arrow(runs_table(rows)))


def comparisons(opened: OpenedResult) -> pl.DataFrame:
    """Every comparison once, the twin's too; differences are shares of one (0.05 is 5 %)."""
    rows = [
        _comparison(each) for each in (*all_comparisons(opened.analysis), *opened.analysis.twin)
    ]
    return pl.DataFrame(rows, schema=_COMPARISON)


_COMPARISON = {
    "question": pl.String,
    "deployment": pl.String,
    "baseline": pl.String,
    "workload": pl.String,
    "level": pl.String,
    "metric": pl.String,
    "verdict": pl.String,
    "difference": pl.Float64,
    "low": pl.Float64,
    "high": pl.Float64,
    "coverage": pl.Float64,
    "blocks": pl.Int64,
    "hodges_lehmann": pl.Float64,
    "primary": pl.Boolean,
    "family": pl.Int64,
    "apart": pl.Float64,
    "tolerance": pl.Float64,
    "detectable": pl.Float64,
    "blocks_needed": pl.Int64,
    "method": pl.String,
    "reason": pl.String,
}


def _comparison(found: Comparison) -> dict[str, Any]:
    return {
        "question": found.question,
        "deployment": found.deployment,
        "baseline": found.baseline,
        "workload": found.workload,
        "level": found.level,
        "metric": found.metric,
        "verdict": found.verdict.value,
        "difference": found.difference.value if found.difference.n else None,
        "low": found.difference.low,
        "high": found.difference.high,
        "coverage": found.difference.level,
        "blocks": found.difference.n,
        "hodges_lehmann": found.hodges_lehmann,
        "primary": found.primary,
        "family": found.family,
        "apart": found.apart,
        "tolerance": found.tolerance,
        "detectable": found.detectable,
        "blocks_needed": found.blocks_needed,
        "method": found.difference.method,
        "reason": reason(found),
    }


def summaries(opened: OpenedResult) -> pl.DataFrame:
    """Means over blocks in the metric's SI unit, which stands beside them."""
    return pl.DataFrame(
        [
            {
                "deployment": found.deployment,
                "workload": found.workload,
                "level": found.level,
                "metric": found.metric,
                "value": found.estimate.value,
                "low": found.estimate.low,
                "high": found.estimate.high,
                "blocks": found.estimate.n,
                "unit": found.estimate.unit,
                "method": found.estimate.method,
            }
            for found in opened.analysis.summaries
        ],
        schema={
            **dict.fromkeys(("deployment", "workload", "level", "metric"), pl.String),
            **dict.fromkeys(("value", "low", "high"), pl.Float64),
            "blocks": pl.Int64,
            **dict.fromkeys(("unit", "method"), pl.String),
        },
    )


def windows(opened: OpenedResult) -> pl.DataFrame:
    """Time lines: `start` in seconds since the measured window began, negative in the warm-up."""
    status = {run.run: run.status for run in opened.analysis.runs}
    return pl.DataFrame(
        [
            {
                **_place(record, status),
                "start": window.start,
                "length": window.length,
                "operations": window.operations,
                "errors": window.errors,
                "throughput": window.operations / window.length if window.length > 0 else None,
            }
            for record in opened.records
            if record.measurement is not None
            for window in record.measurement.windows
        ],
        schema={
            **_PLACE,
            **dict.fromkeys(("start", "length"), pl.Float64),
            **dict.fromkeys(("operations", "errors"), pl.Int64),
            "throughput": pl.Float64,
        },
    )


_COUNTERS = tuple(Usage.model_fields)


def samples(opened: OpenedResult) -> pl.DataFrame:
    """What samplers read. Counters are cumulative; memory and swap are as they stood.

    `unit` is empty for the whole host, else a member, `daemon…`, `generator` or `sampler`. Columns
    that begin with `machine.` belong to the whole machine and stand in the host's own rows.

    `time` is by the host's own clock, `at` from the beginning of the measured window by ours.
    """
    status = {run.run: run.status for run in opened.analysis.runs}
    rows = [
        {**_place(record, status), **row}
        for record in opened.records
        for seen in opened.host_samples(record.run)
        for row in _sampled(seen, record)
    ]
    machine = sorted({key for row in rows for key in row if key.startswith("machine.")})
    others = sorted({key for row in rows for key in row} - {*_PLACE, *_FIRST, *_COUNTERS, *machine})
    return pl.DataFrame(
        rows,
        schema={
            **_PLACE,
            **_FIRST,
            **dict.fromkeys((*_COUNTERS, *others, *machine), pl.Float64),
        },
    )


_FIRST = {"host": pl.String, "unit": pl.String, "time": pl.Float64, "at": pl.Float64}


def _sampled(seen: Samples, record: Record) -> Iterator[dict[str, Any]]:
    measurement = record.measurement
    began = None if measurement is None else measurement.began - clients_clock(record.usage)
    ahead = {host.host: host.clock_offset for host in record.usage}.get(seen.host, 0.0)
    for sample in seen.samples:
        for unit, counters in sample.units.items():
            row: dict[str, Any] = {
                "host": seen.host,
                "unit": unit,
                "time": sample.time,
                "at": None if began is None else sample.time - ahead - began,
                **counters,
            }
            if not unit:
                row |= {f"machine.{name}": value for name, value in sample.machine.items()}
            yield row


def _place(record: Record, status: Mapping[str, str]) -> dict[str, Any]:
    return {
        "run": record.run,
        "deployment": record.deployment,
        "workload": record.workload.name,
        "level": record.level.name,
        "block": record.block,
        "status": status.get(record.run, record.status.value),
    }
