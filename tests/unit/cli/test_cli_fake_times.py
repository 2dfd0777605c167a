"""The clock of fake hosts runs ahead of ours: every time that is told is one to wait for."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from command import Command

from dunnage.cli.shared.studies import FAKE_PACE, FAKE_RUN_SECONDS, study_at
from dunnage.model.plan import Plan
from dunnage.study.expected_time import estimate_seconds

STUDY = """
dunnage: 1
name: fakes
testbed: {kind: fake, hosts: {db: 1, client: 1}}
database: {kind: fake, topology: single}
deployments:
  plain: {platform: fake, network: plain}
  late: {platform: fake, network: late}
twin: plain
workloads: [A]
load: {threads: [8], duration: 4s}
blocks: 4
generator: fake
sampler: {kind: fake}
questions:
  Q1: {baseline: plain, against: [late], metric: service.p99, tolerance: 0.1%}
"""


def planned_seconds(dunnage: Command, study: Path) -> float:
    return float(json.loads(dunnage("plan", study, "--format", "json").out)["seconds"])


def test_a_plan_with_fakes_counts_our_own_time_and_not_that_of_their_clock(
    dunnage: Command, tmp_path: Path
) -> None:
    study = tmp_path / "study.yaml"
    study.write_text(STUDY)
    told = json.loads(dunnage("plan", study, "--format", "json").out)
    plan = Plan.model_validate(told["plan"])
    runs = len(tuple(plan.runs()))
    by_their_clock = estimate_seconds(plan, study_at(study)[0])
    assert by_their_clock > 4 * runs
    ours = FAKE_RUN_SECONDS * runs + FAKE_PACE * by_their_clock
    assert told["seconds"] == pytest.approx(ours)


def test_longer_runs_of_fakes_take_longer(dunnage: Command, tmp_path: Path) -> None:
    study = tmp_path / "study.yaml"
    study.write_text(STUDY)
    short = planned_seconds(dunnage, study)
    study.write_text(STUDY.replace("duration: 4s", "duration: 60s"))
    assert short * 2 < planned_seconds(dunnage, study) < 12 * 60


def test_the_advice_of_a_study_with_fakes_names_no_time(dunnage: Command, tmp_path: Path) -> None:
    study = tmp_path / "study.yaml"
    study.write_text(STUDY)
    dunnage("run", study, "--results", tmp_path / "results")
    shown = dunnage("report", tmp_path / "results")
    (advice,) = json.loads(dunnage("report", tmp_path / "results", "--format", "json").out)[
        "analysis"
    ]["advice"]
    assert advice["more_blocks"] and advice["seconds"] is None
    assert f"`--blocks +{advice['more_blocks']}`" in " ".join(shown.out.split())
    assert ", about" not in shown.out


def test_the_times_of_two_results_of_fakes_are_told_as_simulated(
    dunnage: Command, tmp_path: Path
) -> None:
    study = tmp_path / "study.yaml"
    study.write_text(STUDY)
    for name in ("one", "two"):
        dunnage("run", study, "--results", tmp_path / name)
    shown = dunnage("compare", tmp_path / "one", tmp_path / "two")
    assert shown.out.count("UTC") == 2
    assert " ".join(shown.out.split()).count("UTC by the simulated clock of its fakes") == 2
    both = json.loads(
        dunnage("compare", tmp_path / "one", tmp_path / "two", "--format", "json").out
    )
    assert both["a"]["invented"] and both["b"]["invented"]


def test_the_page_of_fakes_does_not_say_that_anything_was_measured(
    dunnage: Command, tmp_path: Path
) -> None:
    study = tmp_path / "study.yaml"
    study.write_text(STUDY)
    dunnage("run", study, "--results", tmp_path)
    (page,) = tmp_path.glob("*/*/report/index.html")
    (kicker,) = (line for line in page.read_text().splitlines() if 'class="kicker"' in line)
    assert "> invented " in kicker
