"""`dunnage export`: files for papers and other programs, and `dunnage.open` for notebooks."""

from __future__ import annotations

import csv
import json
import re
import subprocess
import sys
from pathlib import Path

import polars
import pytest
from command import Command
from measured import STUDY, measured, without_checksums

import dunnage as api
from dunnage.errors import ResultError

ROOT = Path(__file__).parents[3]
FIXTURE = ROOT / "tests" / "fixtures" / "engine" / "closed-0" / "latency.hlog"


@pytest.fixture(scope="module")
def result(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A result of the fake study; its first run has a real histogram log."""
    directory = tmp_path_factory.mktemp("exported")
    command = [sys.executable, "-m", "dunnage", "run", str(ROOT / "studies" / "fake.yaml")]
    subprocess.run(command, cwd=directory, check=True, capture_output=True, timeout=120)
    root = api.open(directory / "results").path
    without_checksums(root)
    path = next(iter(sorted((root / "runs").glob("*-A-*/record.json"))))
    record = json.loads(path.read_text())
    name = "attempt-1.part-1.latency.hlog"
    (path.parent / name).write_bytes(FIXTURE.read_bytes())
    path.write_text(json.dumps(record | {"artefacts": [*record["artefacts"], name]}))
    return directory / "results"


def test_everything_is_written_and_the_result_stays_as_it_is(
    dunnage: Command, result: Path, tmp_path: Path
) -> None:
    before = sorted((path, path.stat().st_mtime) for path in result.rglob("*"))
    shown = dunnage("export", result, "--to", tmp_path / "a b" / "out", "--format", "json")
    assert shown.code == 0, shown.err
    written = [Path(path) for path in json.loads(shown.out)["written"]]
    assert all(path.exists() for path in written)
    assert sorted((path, path.stat().st_mtime) for path in result.rglob("*")) == before
    tables = {path.stem for path in written if path.suffix == ".csv"}
    for kind, suffix in (("latex", "tex"), ("markdown", "md")):
        found = {path.stem for path in written if path.parent.name == kind}
        assert found == tables
        assert all(path.suffix == f".{suffix}" for path in written if path.parent.name == kind)
    assert {"answers", "runs", "summaries", "order", "environment"} <= tables
    with (tmp_path / "a b" / "out" / "csv" / "runs.csv").open() as file:
        assert len(list(csv.DictReader(file))) == 48
    (log,) = [path for path in written if path.suffix == ".hlog"]
    assert log.read_text().startswith("#[Histogram log format version 1.3]")


def test_only_what_is_asked_for_is_written(dunnage: Command, result: Path, tmp_path: Path) -> None:
    shown = dunnage("export", result, "--to", tmp_path, "--as", "parquet, hlog")
    assert shown.code == 0
    assert {path.name for path in tmp_path.iterdir()} == {
        "runs.parquet",
        "runs.parquet.md",
        "hlog",
        "export.json",
    }
    assert "4 files written" in shown.err


def test_files_of_two_results_never_mix(dunnage: Command, result: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    other = measured(STUDY, tmp_path)
    assert dunnage("export", result, "--to", out, "--as", "csv").code == 0
    before = {path: path.read_bytes() for path in out.rglob("*.*")}
    shown = dunnage("export", other, "--to", out, "--as", "csv,latex")
    assert shown.code == 2
    assert "files of another result, `fake/" in shown.err
    assert f"dunnage export {other} --to {out}-2 --as csv,latex" in shown.err
    assert {path: path.read_bytes() for path in out.rglob("*.*")} == before


def test_an_export_is_made_again_and_what_is_not_written_any_more_goes(
    dunnage: Command, result: Path, tmp_path: Path
) -> None:
    assert dunnage("export", result, "--to", tmp_path).code == 0
    listed = json.loads((tmp_path / "export.json").read_text())
    (tmp_path / "csv" / "former.csv").write_text("of an earlier Dunnage")
    (tmp_path / "csv" / "own.csv").write_text("of the user")
    files = [*listed["files"], "csv/former.csv"]
    (tmp_path / "export.json").write_text(json.dumps(listed | {"files": files}))
    assert dunnage("export", result, "--to", tmp_path, "--as", "csv").code == 0
    assert not (tmp_path / "csv" / "former.csv").exists()
    assert (tmp_path / "csv" / "own.csv").exists()
    assert json.loads((tmp_path / "export.json").read_text()) == listed


@pytest.mark.parametrize("signed", [None, "", "{}"], ids=["ours", "unsigned", "theirs"])
def test_a_file_of_the_user_is_not_replaced(
    dunnage: Command, result: Path, tmp_path: Path, signed: str | None
) -> None:
    (tmp_path / "latex").mkdir()
    (tmp_path / "latex" / "thesis.tex").write_text("beside it")
    assert dunnage("export", result, "--to", tmp_path, "--as", "latex").code == 0
    (tmp_path / "runs.parquet").write_text("mine")
    if signed is not None:
        (tmp_path / "export.json").write_text(signed)
    before = (tmp_path / "export.json").read_text()
    shown = dunnage("export", result, "--to", tmp_path, "--as", "parquet")
    assert shown.code == 2
    assert "`runs.parquet` is there already" in shown.err
    assert (tmp_path / "runs.parquet").read_text() == "mine"
    assert (tmp_path / "export.json").read_text() == before


def test_a_file_that_only_has_the_name_of_our_list_is_not_replaced(
    dunnage: Command, result: Path, tmp_path: Path
) -> None:
    (tmp_path / "export.json").write_text('{"my": "own"}')
    shown = dunnage("export", result, "--to", tmp_path)
    assert shown.code == 2
    assert "`export.json` is there already" in shown.err
    assert (tmp_path / "export.json").read_text() == '{"my": "own"}'


def test_an_export_into_the_directory_that_one_is_in_names_another_one(
    dunnage: Command, result: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert dunnage("export", result, "--to", ".", "--as", "csv").code == 0
    (tmp_path / "runs.parquet").write_text("mine")
    shown = dunnage("export", result, "--to", ".")
    assert shown.code == 2
    assert f"--to {tmp_path.name}-2" in shown.err


def test_a_search_leaves_no_log_and_a_run_over_capacity_is_marked(
    dunnage: Command, result: Path, tmp_path: Path
) -> None:
    root = tmp_path / "result"
    subprocess.run(["cp", "-a", str(api.open(result).path), str(root)], check=True)
    (path,) = [each.parent / "record.json" for each in root.glob("runs/*/*.hlog")]
    record = json.loads(path.read_text())
    path.write_text(json.dumps(record | {"over_capacity": True}))
    assert dunnage("export", root, "--to", tmp_path / "over", "--as", "hlog").code == 0
    (log,) = (tmp_path / "over" / "hlog").iterdir()
    assert log.name == f"{record['run']}.over-capacity.hlog"
    searched = {"rate": 100.0, "ended": "found", "probes": []}
    path.write_text(json.dumps(record | {"search": searched}))
    shown = dunnage("export", root, "--to", tmp_path / "searched", "--as", "hlog")
    assert shown.code == 0, shown.err
    assert "the logs of 1 search are left out" in shown.err
    assert not (tmp_path / "searched" / "hlog").exists()


@pytest.mark.parametrize("wanted", ["pdf", "csv,excel", ","])
def test_what_cannot_be_written_is_told_with_what_can(
    dunnage: Command, result: Path, tmp_path: Path, wanted: str
) -> None:
    shown = dunnage("export", result, "--to", tmp_path / "out", "--as", wanted)
    assert shown.code == 2
    assert "csv, parquet, latex, markdown, hlog" in shown.err
    assert not (tmp_path / "out").exists()


def test_a_place_that_cannot_be_written_is_told(
    dunnage: Command, result: Path, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("in the way")
    shown = dunnage("export", result, "--to", tmp_path / "file")
    assert shown.code == 4
    assert "cannot write" in shown.err
    assert "Traceback" not in shown.err


def test_the_parquet_file_and_the_data_frame_of_runs_are_the_same(
    dunnage: Command, result: Path, tmp_path: Path
) -> None:
    assert dunnage("export", result, "--to", tmp_path, "--as", "parquet").code == 0
    assert polars.read_parquet(tmp_path / "runs.parquet").equals(api.open(result).runs)


def test_a_result_gives_data_frames_and_models(result: Path) -> None:
    opened = api.open(str(result))
    assert opened.study.name == opened.analysis.study == "fake"
    assert opened.runs.height == len(opened.records) == 48
    assert opened.comparisons.height > opened.comparisons["question"].drop_nulls().len() > 0
    summary = opened.summaries.row(0, named=True)
    assert summary["low"] <= summary["value"] <= summary["high"]
    assert set(opened.windows["run"]) == set(opened.runs["run"])
    assert opened.windows.filter(polars.col("start") < 0).height > 0
    whole = opened.samples.filter((polars.col("unit") == "") & (polars.col("host") == "db-1"))
    assert set(whole["run"]) == set(opened.runs["run"])
    first = whole.filter(polars.col("run") == whole["run"][0]).sort("time")
    assert first["cpu"].is_sorted()
    assert first["machine.cpu_total"].null_count() == 0
    members = opened.samples.filter(polars.col("unit") != "")
    assert members["machine.cpu_total"].null_count() == members.height
    assert opened.runs is opened.runs
    assert repr(opened) == f"<result {opened.path}>"


def test_where_no_result_is_there_is_an_error_and_no_object(tmp_path: Path) -> None:
    with pytest.raises(ResultError, match="there is no result here"):
        api.open(tmp_path)


def test_the_example_of_the_reference_runs_as_it_is_printed(result: Path) -> None:
    text = (ROOT / "docs" / "reference" / "python.md").read_text()
    examples = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    assert examples
    for example in examples:
        subprocess.run(
            [sys.executable, "-W", "error", "-c", example],
            cwd=result.parent,
            check=True,
            timeout=60,
            capture_output=True,
        )
