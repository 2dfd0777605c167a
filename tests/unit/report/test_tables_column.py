"""A column is declared once: programs get SI units by its name, people the unit they read."""

from __future__ import annotations

import polars
import pytest

from dunnage.model.analysis import Summary
from dunnage.model.estimate import Estimate
from dunnage.report.export import csv_files
from dunnage.report.export.arrow import arrow, frame
from dunnage.report.tables.column import (
    Cell,
    Column,
    ColumnType,
    Shown,
    count,
    number,
    share,
    text,
)
from dunnage.report.tables.comparisons import comparisons
from dunnage.report.tables.means import shown_summaries, summaries
from dunnage.report.tables.table import Table
from report_samples import sample

Row = tuple[str, float | None]
COLUMNS: tuple[Column[Row], ...] = (
    text("name", lambda row: row[0], "who"),
    number("latency", lambda row: row[1], "how slow", "s", Shown("ms", 1e3, digits=4)),
    share("apart", lambda row: row[1], called="twins-apart"),
    count("letters", lambda row: len(row[0])),
    Column("fine", ColumnType.TRUTH, lambda row: row[1] is None),
    Column("reasons", ColumnType.TEXTS, lambda row: tuple(row[0])),
)
TABLE: Table[Row] = Table("made-up", "Made up", COLUMNS, (("ab", 0.0123456), ("=c", None)))


def test_people_read_the_shown_unit_in_the_head_and_in_the_cells() -> None:
    assert csv_files.document(TABLE).split("\r\n") == [
        "name,latency [ms],twins-apart [%],letters,fine,reasons",
        "ab,12.35,1.23456,2,no,a; b",
        "'=c,,,2,yes,'=; c",
        "",
    ]
    assert TABLE.numeric == [False, True, True, True, False, False]


def test_programs_get_si_units_under_the_name_with_unit_and_meaning_beside() -> None:
    assert frame(TABLE).rows(named=True) == [
        {
            "name": "ab",
            "latency": 0.0123456,
            "apart": 0.0123456,
            "letters": 2,
            "fine": False,
            "reasons": ["a", "b"],
        },
        {
            "name": "=c",
            "latency": None,
            "apart": None,
            "letters": 2,
            "fine": True,
            "reasons": ["=", "c"],
        },
    ]
    field = arrow(TABLE).schema.field("latency")
    assert field.metadata == {b"unit": b"s", b"meaning": b"how slow"}


def test_a_table_without_rows_keeps_the_types_of_its_columns() -> None:
    empty = frame(Table("made-up", "Made up", COLUMNS, ()))
    assert empty.height == 0
    assert empty.schema == frame(TABLE).schema
    assert empty.schema["reasons"] == polars.List(polars.String)


@pytest.mark.parametrize("cells", [(1, "two", None), (True, 2.5), (None, None)])
def test_a_column_of_whatever_there_is_becomes_a_frame_too(cells: tuple[Cell, ...]) -> None:
    whatever: Column[Cell] = Column("value", None, lambda cell: cell)
    found = frame(Table("facts", "Facts", (whatever,), cells))["value"]
    assert found.null_count() == cells.count(None)


def test_the_same_comparisons_are_shares_in_a_frame_and_percent_in_a_file() -> None:
    table = comparisons(sample().analysis)
    shown = dict(zip(table.heads, zip(*table.shown, strict=True), strict=True))
    held = frame(table)
    for name, head in (("low", "low [%]"), ("apart", "twins-apart [%]")):
        for share_of_one, percent in zip(held[name], shown[head], strict=True):
            assert (percent is None) == (share_of_one is None)
            if share_of_one is not None:
                assert percent == pytest.approx(share_of_one * 100, rel=1e-5)


def test_a_mean_and_the_unit_beside_it_are_scaled_together() -> None:
    estimate = Estimate(value=0.002, low=None, high=0.003, n=5, unit="s", method="made up")
    mean = Summary(
        deployment="a", workload="A", level="t8", metric="service.p95", estimate=estimate
    )
    analysis = sample().analysis.model_copy(update={"summaries": (mean,)})
    assert frame(summaries(analysis)).row(0)[4:9] == (0.002, None, 0.003, 5, "s")
    table = shown_summaries(analysis)
    assert table.heads[4:9] == ["value", "low", "high", "unit", "blocks"]
    assert table.shown[0][4:9] == [2.0, None, 3.0, "ms", 5]
