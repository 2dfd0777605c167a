"""CSV files hold every comparison and every run, with units in the names of columns."""

import csv
from pathlib import Path

import pytest

from dunnage.errors import ResultError
from dunnage.report.export.csv_files import write_csv
from report_samples import nothing_measured, sample


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def test_every_run_is_there_with_its_values_in_the_unit_of_the_column(tmp_path: Path) -> None:
    made = sample()
    _, runs = write_csv(made.analysis, tmp_path)
    found = rows(runs)
    assert [row["run"] for row in found] == [run.run for run in made.analysis.runs]
    expected = made.analysis.runs[0].values["service.p95"] * 1000
    assert float(found[0]["service.p95 [ms]"]) == pytest.approx(expected)
    assert float(found[0]["memory.database [MiB]"]) == pytest.approx(124.5)


def test_every_comparison_is_there_with_its_interval_and_the_twin_too(tmp_path: Path) -> None:
    made = sample()
    answers, _ = write_csv(made.analysis, tmp_path)
    found = rows(answers)
    first = made.analysis.answers[0].comparisons[0].difference
    assert first.low is not None
    assert float(found[0]["difference [%]"]) == pytest.approx(first.value * 100, rel=1e-4)
    assert float(found[0]["low [%]"]) == pytest.approx(first.low * 100, rel=1e-4)
    assert {"native-twin", "docker-noisy"} <= {row["deployment"] for row in found}


def test_few_blocks_leave_the_interval_empty(tmp_path: Path) -> None:
    answers, _ = write_csv(sample(blocks=3).analysis, tmp_path)
    assert {row["low [%]"] for row in rows(answers)} == {""}


def test_a_realised_slowdown_has_a_column_where_one_was_declared(tmp_path: Path) -> None:
    made = sample()
    first, *rest = made.analysis.runs
    slowed = first.model_copy(update={"paused": 0.0512})
    _, plain = write_csv(made.analysis, tmp_path / "plain")
    _, runs = write_csv(made.analysis.model_copy(update={"runs": (slowed, *rest)}), tmp_path)
    assert "slowed down [%]" not in rows(plain)[0]
    assert [row["slowed down [%]"] for row in rows(runs)[:2]] == ["5.12", ""]


def test_what_watching_took_stands_beside_each_run_that_knows_it(tmp_path: Path) -> None:
    made = sample()
    first, *rest = made.analysis.runs
    watched = first.model_copy(update={"sampler_cpu": 0.0125})
    _, runs = write_csv(made.analysis.model_copy(update={"runs": (watched, *rest)}), tmp_path)
    assert [row["sampler [CPU s]"] for row in rows(runs)[:2]] == ["0.0125", ""]


def test_a_name_cannot_become_a_formula(tmp_path: Path) -> None:
    made = sample()
    run = made.analysis.runs[0].model_copy(update={"deployment": "=cmd()"})
    _, runs = write_csv(made.analysis.model_copy(update={"runs": (run,)}), tmp_path)
    assert rows(runs)[0]["deployment"] == "'=cmd()"


def test_nothing_measured_still_makes_files(tmp_path: Path) -> None:
    assert all(path.exists() for path in write_csv(nothing_measured(), tmp_path))


def test_a_directory_that_is_a_file_is_an_error_that_names_it(tmp_path: Path) -> None:
    place = tmp_path / "taken"
    place.write_text("")
    with pytest.raises(ResultError, match="taken"):
        write_csv(sample().analysis, place)
