"""Data frames put what hosts saw on the axis of the run."""

from __future__ import annotations

import pytest
from analysis_cases import host, measurement, samples
from analysis_study import record

from dunnage.report.export.arrow import frame
from dunnage.report.tables.time_line import samples as table_of_samples


def test_a_samples_place_in_its_run_does_not_depend_on_whose_clock_is_ahead() -> None:
    client = host("client-1", "client", clock_offset=-1.0)
    made = record(
        measurement=measurement(began=1000.0), usage=(host("db-1", clock_offset=2.5), client)
    )
    seen = samples({1003.5: {"cpu": 1.0}, 1004.5: {"cpu": 2.0}})
    found = frame(table_of_samples((), (made,), lambda _: (seen,)))
    assert found["time"].to_list() == [1003.5, 1004.5]
    assert found["at"].to_list() == pytest.approx([0.0, 1.0])
    assert found["cpu"].to_list() == [1.0, 2.0]
