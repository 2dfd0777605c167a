"""Every part of an analysis is in some table, and no table holds a number that is none."""

from __future__ import annotations

import csv
import io
import re
from typing import Any

import polars
import pytest

from dunnage.model.analysis import Analysis
from dunnage.model.estimate import Estimate
from dunnage.model.look import Look
from dunnage.model.value import Value
from dunnage.report.export import csv_files, markdown
from dunnage.report.export.arrow import frame, parquet
from dunnage.report.export.latex import document as latex
from dunnage.report.tables import flatten
from dunnage.report.tables.every import tables
from dunnage.report.tables.table import Table
from report_samples import nothing_measured, sample

ROW_ENDS = re.compile(r" (?:\\\\|\\tabularnewline)$", re.MULTILINE)
"""How a row ends in LaTeX."""


def estimate(value: float, n: int = 6) -> Estimate:
    return Estimate(value=value, low=value - 1, high=value + 1, n=n, unit="s", method="made up")


class Series(Value):
    name: str
    median: tuple[float | None, ...]


class Line(Value):
    deployment: str
    starts: tuple[float, ...]
    series: tuple[Series, ...]
    seen: Estimate
    best: Estimate | None = None
    notes: tuple[str, ...] = ()


def named(found: list[Table[Any]]) -> dict[str, Table[Any]]:
    return {table.name: table for table in found}


def rows(table: Table[Any]) -> list[dict[str, object]]:
    return [dict(zip(table.heads, row, strict=True)) for row in table.shown]


def test_lists_become_tables_that_name_their_owners() -> None:
    line = Line(
        deployment="native",
        starts=(0.0, 0.2),
        series=(Series(name="cpu", median=(1.0, None)), Series(name="disk", median=(3.0, 4.0))),
        seen=estimate(2.0),
        notes=("a", "b"),
    )
    found = named(list(flatten.tables("lines", "Lines", [line])))
    assert list(found) == ["lines", "lines-series", "lines-series-points"]
    (row,) = rows(found["lines"])
    assert row == {
        "deployment": "native",
        "seen": 2.0,
        "seen.low": 1.0,
        "seen.high": 3.0,
        "seen.unit": "s",
        "seen.blocks": 6,
        "best": None,
        "notes": "a; b",
    }
    assert [(r["deployment"], r["name"]) for r in rows(found["lines-series"])] == [
        ("native", "cpu"),
        ("native", "disk"),
    ]
    points = [(r["name"], r["starts"], r["median"]) for r in rows(found["lines-series-points"])]
    assert points == [("cpu", 0.0, 1.0), ("cpu", 0.2, None), ("disk", 0.0, 3.0), ("disk", 0.2, 4.0)]


def test_an_estimate_of_no_block_is_no_number() -> None:
    line = Line(deployment="a", starts=(), series=(), seen=estimate(0.0, n=0))
    (found,) = flatten.tables("lines", "Lines", [line])
    assert rows(found)[0]["seen"] is None


def test_every_list_of_an_analysis_that_has_something_has_a_table() -> None:
    made = sample()
    look = Look(time=0.0, plan=2, complete=6, planned=6, added=2)
    analysis = made.analysis.model_copy(update={"looks": (look,)})
    names = {table.name for table in tables(analysis, made.plan)}
    renamed = {
        "answers": "answers",
        "comparisons": "answers",
        "twin": "answers",
        "curves": "latency-curves",
        "shares": "cpu",
        "skipped": "counts",
    }
    for field in Analysis.model_fields:
        value = getattr(analysis, field)
        if isinstance(value, tuple) and value:
            assert renamed.get(field, field.replace("_", "-")) in names, field
    assert {"factors", "parity", "environment", "deployments", "metrics", "checks"} <= names
    assert len({name.casefold() for name in names}) == len(names)


@pytest.mark.parametrize("hostile", [False, True])
def test_every_table_can_be_written_in_every_way(hostile: bool) -> None:
    made = sample(hostile=hostile)
    for table in tables(made.analysis, made.plan):
        assert {len(row) for row in table.shown} == {len(table.heads)}
        set_in_latex = latex.document(table)
        parts = set_in_latex.count(r"\begin{tabular}")
        rows = len(ROW_ENDS.findall(set_in_latex))
        assert set_in_latex.count(r"\end{tabular}") == parts > 0
        assert rows >= parts + len(table.rows)
        assert len(markdown.document(table).splitlines()) == len(table.rows) + 4
        with io.StringIO(csv_files.document(table), newline="") as file:
            assert [len(row) for row in csv.reader(file)] == [len(table.heads)] * (
                len(table.rows) + 1
            )
        made_frame = frame(table)
        assert made_frame.columns == [column.name for column in table.columns]
        assert polars.read_parquet(parquet(table, version=1)).equals(made_frame)


def test_of_a_study_without_runs_there_are_its_counts_and_deployments() -> None:
    names = {table.name for table in tables(nothing_measured(), sample().plan)}
    assert names == {"counts", "deployments"}
