"""Shares of a capacity in two results: compared where they are the same rates."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest
from command import Command
from measured import a_day_later, measured, without_checksums

from dunnage.store.read import Result, open_result

STUDY = """
dunnage: 1
name: shares
testbed: {kind: fake, hosts: {db: 3, client: 1}}
database: {kind: fake, topology: single}
deployments:
  plain: {platform: fake, network: plain}
  late: {platform: fake, network: late}
twin: plain
workloads: [A]
records: 100
load: {rate: [60%], connections: 8, warmup: 1s, duration: 4s}
blocks: 6
seed: 1
generator: fake
sampler: {kind: fake, rate: 5Hz}
questions:
  Q: {baseline: plain, against: [late], metric: response.p95, tolerance: 5%}
"""


@pytest.fixture(scope="module")
def monday(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return measured(STUDY, tmp_path_factory.mktemp("shares"))


@pytest.fixture
def tuesday(monday: Path, tmp_path: Path) -> Path:
    root = tmp_path / "tuesday"
    subprocess.run(["cp", "-a", str(monday), str(root)], check=True)
    return root


@pytest.fixture
def study(tmp_path: Path) -> Path:
    """The same study in another order, with other chance."""
    path = tmp_path / "study.yaml"
    path.write_text(STUDY.replace("seed: 1", "seed: 2"))
    return path


def recalibrate(root: Path, factor: float) -> None:
    """Make a copy of a result one of another day, and its capacity another one; its runs stay what
    they are."""
    a_day_later(root)
    path = open_result(root).layout.calibration
    found = json.loads(path.read_text())
    for capacity in found["capacities"].values():
        capacity["throughput"] *= factor
        capacity["runs"] = {run: reached * factor for run, reached in capacity["runs"].items()}
    path.write_text(json.dumps(found))


def rates(result: Result) -> set[float | None]:
    return {record.level.rate for record in result.records}


def test_at_shares_that_are_two_rates_nothing_is_compared_and_the_remedy_is_named(
    dunnage: Command, monday: Path, tuesday: Path
) -> None:
    recalibrate(tuesday, 1.02)
    shown = dunnage("compare", monday, tuesday)
    assert shown.code == 5
    assert "nothing could be compared, so no regression is ruled out" in shown.err
    told = " ".join(shown.out.split())
    assert "A, s60: not the same load" in told
    assert "`dunnage run --rates-of`" in told


def test_the_levels_beside_such_shares_are_compared(dunnage: Command, tmp_path: Path) -> None:
    (tmp_path / "study.yaml").write_text(STUDY.replace("rate: [60%]", "threads: [4], rate: [60%]"))
    words = ("run", tmp_path / "study.yaml", "--results", tmp_path / "results")
    assert dunnage(*words).code == 0
    first = open_result(tmp_path / "results").layout.root
    second = tmp_path / "second"
    subprocess.run(["cp", "-a", str(first), str(second)], check=True)
    recalibrate(second, 1.2)
    shown = dunnage("compare", first, second, "--format", "json")
    assert shown.code == 5
    assert "not everything could be compared" in shown.err
    found = json.loads(shown.out)
    assert found["comparable"] is True
    assert {change["level"] for change in found["changes"]} == {"t4"}
    assert len(found["left_out"]) == 1


def test_rates_of_another_result_are_the_same_rates_without_a_calibration(
    dunnage: Command, monday: Path, study: Path, tmp_path: Path
) -> None:
    shown = dunnage("run", study, "--rates-of", monday, "--results", tmp_path / "results")
    assert shown.code == 0, shown.err
    first, second = open_result(monday), open_result(tmp_path / "results")
    assert second.calibration is not None and first.calibration is not None
    assert second.calibration.taken_from == f"shares/{monday.name}"
    assert second.calibration.capacities == first.calibration.capacities
    assert rates(first) == rates(second)
    assert second.calibration_records == ()
    events = {event["event"] for event in second.events()}
    assert "calibration taken" in events and "calibrated" not in events
    told = " ".join(dunnage("report", tmp_path / "results", "--details").out.split())
    assert f"reached in shares/{monday.name}, workload A" in told
    compared = dunnage("compare", monday, tmp_path / "results", "--format", "json")
    assert compared.code in (0, 1), compared.err
    found = json.loads(compared.out)
    assert found["left_out"] == []
    assert "response.p95" in {change["metric"] for change in found["changes"]}


def test_more_blocks_of_such_a_result_keep_its_rates(
    dunnage: Command, monday: Path, study: Path, tmp_path: Path
) -> None:
    results = tmp_path / "results"
    assert dunnage("run", study, "--rates-of", monday, "--results", results).code == 0
    assert dunnage("run", "--resume", results, "--blocks", "+1").code == 0
    longer = open_result(results)
    assert len(longer.plan.blocks) == 7
    assert rates(longer) == rates(open_result(monday))


@pytest.mark.parametrize(
    ("load", "told"),
    [
        ("threads: [4], warmup: 1s", "needs a study with a rate that is a share"),
        ("rate: [60%], connections: 16, warmup: 1s", "has the capacity of `plain` at 8 threads"),
    ],
)
def test_rates_that_do_not_fit_a_study_are_refused(
    dunnage: Command, monday: Path, tmp_path: Path, load: str, told: str
) -> None:
    other = tmp_path / "other.yaml"
    asked = STUDY.replace("rate: [60%], connections: 8, warmup: 1s", load)
    other.write_text(asked.replace("response.p95", "throughput"))
    results = tmp_path / "results"
    shown = dunnage("run", other, "--rates-of", monday, "--results", results)
    assert shown.code == 2
    assert told in shown.err
    assert not results.exists()


def test_a_result_without_a_capacity_and_a_result_that_is_resumed_are_refused(
    dunnage: Command, monday: Path, tuesday: Path, study: Path, tmp_path: Path
) -> None:
    without_checksums(tuesday)
    layout = open_result(tuesday).layout
    layout.calibration.unlink()
    shown = dunnage("run", study, "--rates-of", tuesday, "--results", tmp_path / "results")
    assert shown.code == 2
    assert "its capacity cannot be taken: calibration.json: it is missing" in shown.err
    shutil.rmtree(layout.runs)  # no run had its rate yet
    shown = dunnage("run", study, "--rates-of", tuesday, "--results", tmp_path / "results")
    assert shown.code == 2
    assert "this result has no capacity" in shown.err
    resumed = dunnage("run", "--resume", tuesday, "--rates-of", monday)
    assert resumed.code == 2
    assert "is for a new result" in resumed.err


def test_a_share_of_which_no_run_could_be_valid_ends_the_study_when_its_rate_is_known(
    dunnage: Command, tmp_path: Path
) -> None:
    path = tmp_path / "study.yaml"
    path.write_text(STUDY.replace("60%", "0.1%"))
    shown = dunnage("run", path, "--results", tmp_path / "results")
    assert shown.code == 4
    assert "workload A at 0.1 % of plain's capacity: a run of 4.0 s at 9 op/s has 36" in shown.err
    assert "write another share or `duration` under `load`" in shown.err
    assert not open_result(tmp_path / "results").finished()
