"""A table for programs, in SI units: a data frame or a Parquet file, each column with its type.

polars and pyarrow are imported when they are needed, so that the command line starts quickly.
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, cast

from dunnage.report.tables.column import Cell, ColumnType
from dunnage.report.tables.table import Table

if TYPE_CHECKING:
    import polars
    import pyarrow


def frame(table: Table[Any]) -> polars.DataFrame:
    """A table as a polars data frame."""
    import polars as pl

    return cast("pl.DataFrame", pl.from_arrow(arrow(table)))


def parquet(table: Table[Any], version: int) -> bytes:
    """A table, whose columns are of a version, as the content of a Parquet file."""
    import pyarrow.parquet as pq

    content = io.BytesIO()
    versioned = {f"dunnage.{table.name}": str(version)}
    pq.write_table(arrow(table).replace_schema_metadata(versioned), content)
    return content.getvalue()


def arrow(table: Table[Any]) -> pyarrow.Table:
    """A table as Arrow has it; each field says its unit and meaning in its metadata."""
    import pyarrow as pa

    arrays = [_array([c.of(row) for row in table.rows], c.type) for c in table.columns]
    fields = [
        pa.field(column.name, array.type, metadata={"unit": column.unit, "meaning": column.meaning})
        for column, array in zip(table.columns, arrays, strict=True)
    ]
    return pa.Table.from_arrays(arrays, schema=pa.schema(fields))


def _array(cells: Sequence[Cell], kind: ColumnType | None) -> pyarrow.Array:
    import polars as pl
    import pyarrow as pa

    if kind is None:
        return pl.Series(cells, strict=False).to_arrow()
    types = {
        ColumnType.TEXT: pa.string(),
        ColumnType.COUNT: pa.int64(),
        ColumnType.NUMBER: pa.float64(),
        ColumnType.TRUTH: pa.bool_(),
        ColumnType.TEXTS: pa.list_(pa.string()),
        ColumnType.MOMENT: pa.timestamp("us", tz="UTC"),
    }
    return pa.array(cells, type=types[kind])
