"""All runs as one Parquet file; each column says its unit and meaning in the field metadata.

pyarrow is imported when a file is written, so that the command line starts quickly.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dunnage.report.export.run_columns import COLUMNS, RUNS_VERSION, Cell, ColumnType, RunRow

if TYPE_CHECKING:
    import pyarrow


def runs_table(rows: Sequence[RunRow]) -> pyarrow.Table:
    """The runs as an Arrow table with the documented schema, whatever values there are."""
    import pyarrow as pa

    types = {
        ColumnType.TEXT: pa.string(),
        ColumnType.COUNT: pa.int64(),
        ColumnType.NUMBER: pa.float64(),
        ColumnType.TRUTH: pa.bool_(),
        ColumnType.TEXTS: pa.list_(pa.string()),
        ColumnType.MOMENT: pa.timestamp("us", tz="UTC"),
    }
    schema = pa.schema(
        [
            pa.field(
                column.name,
                types[column.type],
                metadata={"unit": column.unit, "meaning": column.meaning},
            )
            for column in COLUMNS
        ],
        metadata={"dunnage.runs": str(RUNS_VERSION)},
    )
    arrays = [
        pa.array([_arrow(column.of(row), column.type) for row in rows], type=types[column.type])
        for column in COLUMNS
    ]
    return pa.Table.from_arrays(arrays, schema=schema)


def write_runs(rows: Sequence[RunRow], path: Path) -> Path:
    """Write the runs to `path`; raises OSError."""
    import pyarrow.parquet as pq

    pq.write_table(runs_table(rows), path)
    return path


def _arrow(cell: Cell, kind: ColumnType) -> Any:
    if kind is ColumnType.MOMENT and isinstance(cell, int | float):
        return datetime.fromtimestamp(cell, tz=UTC)
    return list(cell) if isinstance(cell, tuple) else cell
