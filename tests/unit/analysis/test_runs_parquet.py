"""All runs as one Parquet file, whose columns say what they are."""

from __future__ import annotations

import io
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from analysis_study import STUDY, plan, records, stays

from dunnage.findings.analyse import analyse
from dunnage.model.metrics import METRICS
from dunnage.report.export.arrow import parquet
from dunnage.report.tables import runs
from dunnage.report.tables.table import Table


@pytest.fixture
def written() -> pa.Table:
    planned = plan()
    made = records(planned, 0.05)
    analysis = analyse(STUDY, planned, made, stays(planned), {}, lambda _: None)
    table = runs.recorded_runs(STUDY.name, planned, analysis.runs, made)
    return pq.read_table(io.BytesIO(parquet(table, runs.RUNS_VERSION)))


def test_there_is_a_row_for_each_run_with_its_values_in_si_units(written: pa.Table) -> None:
    made = records(plan(), 0.05)
    rows = written.to_pylist()
    assert [row["run"] for row in rows] == [run.id for run in plan().runs()]
    for row, record in zip(rows, made, strict=True):
        assert record.measurement is not None
        stats = record.measurement.operations["all"]
        assert row["throughput"] == pytest.approx(stats.count / record.measurement.seconds)
        assert stats.service is not None
        assert row["service.p95"] == stats.service.quantiles["p95"]
        assert row["response.p95"] is None
        assert row["started"].timestamp() == record.started
        assert row["reasons"] == []
        assert (row["threads"], row["rate"], row["attempts"]) == (8, None, 1)
        assert (row["sampler_cpu"], row["trend"]) == (0.01, 0.0)
    assert {row["twin_of"] for row in rows if row["deployment"] == "twin"} == {"native"}


def test_every_column_tells_its_unit_and_meaning(written: pa.Table) -> None:
    assert written.schema.names == [column.name for column in runs.COLUMNS]
    assert set(METRICS) <= set(written.schema.names)
    for column in runs.COLUMNS:
        field = written.schema.field(column.name)
        assert str(field.type).replace("element: ", "").replace("item: ", "") == column.type
        assert field.metadata[b"unit"].decode() == column.unit
        assert field.metadata[b"meaning"].decode() == column.meaning != ""
    assert written.schema.metadata[b"dunnage.runs"] == b"1"


def test_the_document_in_schema_is_this_one() -> None:
    path = Path(__file__).parents[3] / "schema" / "runs.parquet.md"
    assert path.read_text() == runs.document()


def test_no_run_is_a_table_of_no_rows_with_the_same_columns() -> None:
    table = Table[runs.RecordedRun]("runs", "All runs", runs.COLUMNS, ())
    empty = pq.read_table(io.BytesIO(parquet(table, runs.RUNS_VERSION)))
    assert empty.num_rows == 0
    assert empty.schema.names == [column.name for column in runs.COLUMNS]
