"""`dunnage plan`: a plan is shown wherever one is, with every run on demand and what is missing."""

from __future__ import annotations

import json
from collections import defaultdict
from pathlib import Path

import pytest
from command import Command

from dunnage import capabilities
from dunnage.hosts.namespace.supports import ROOT
from dunnage.model.offer import Capability, Support

STUDIES = Path(__file__).parents[3] / "studies"
OPEN = """
dunnage: 1
name: open
testbed: {kind: fake, hosts: {db: 3, client: 1}}
database: {kind: fake, topology: single}
deployments:
  plain: {platform: fake, network: plain}
  late: {platform: fake, network: late}
workloads: [A]
load: {threads: [8], rate: [2000, 60%], search: {}, duration: 4s}
blocks: 1
generator: fake
sampler: {kind: fake}
questions:
  Q1: {baseline: plain, against: [late], metric: saturation, tolerance: 5%}
"""


@pytest.fixture
def poor(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine on which only some of what a study needs is there."""

    here = defaultdict(lambda: Support(met=True))
    here[ROOT] = Support(met=False, reason="you are not root", hint="sudo dunnage run")
    monkeypatch.setattr(capabilities, "supports", lambda _: here)


def test_a_plan_is_shown_without_rights_and_says_what_is_missing(
    dunnage: Command, poor: None
) -> None:
    shown = dunnage("plan", STUDIES / "quickstart.yaml")
    assert shown.code == 0
    assert "docker-bridge" in shown.out
    missing = " ".join(shown.err.split())
    assert "missing here for native, native-twin, docker-host, docker-bridge" in missing
    assert missing.count("you are not root") == 1
    assert "try: sudo dunnage run" in missing


def test_what_is_missing_is_in_the_json_too_and_a_run_is_still_refused(
    dunnage: Command, poor: None, tmp_path: Path
) -> None:
    shown = dunnage("plan", STUDIES / "quickstart.yaml", "--only", "native", "--format", "json")
    answer = json.loads(shown.out)
    assert answer["missing"] == {
        "native": "you are not root",
    }
    assert answer["plan"]["blocks"]
    refused = dunnage("run", STUDIES / "quickstart.yaml", "--results", tmp_path)
    assert refused.code == 3
    assert list(tmp_path.iterdir()) == []


def test_every_run_is_listed_on_demand_with_the_calibration_first(
    dunnage: Command, tmp_path: Path
) -> None:
    study = tmp_path / "open.yaml"
    study.write_text(OPEN)
    plain = dunnage("plan", study)
    assert plain.code == 0
    assert "Calibration" in plain.out and "3 runs at 8 threads" in " ".join(plain.out.split())
    assert "b01-plain-A-s60" not in plain.out
    listed = dunnage("plan", study, "--runs").out
    runs = [line.split()[-1] for line in listed.splitlines() if "-A-" in line]
    assert runs[:3] == [f"calibration-A-t8-{at}" for at in (1, 2, 3)]
    assert sorted(runs[3:]) == sorted(
        f"b01-{name}-A-{level}"
        for name in ("plain", "late")
        for level in ("t8", "r2000", "s60", "search")
    )
    assert "60 % of plain's capacity" in listed
    assert "search for saturation" in listed


def test_what_is_odd_about_a_load_is_told_by_plan_and_by_run(
    dunnage: Command, tmp_path: Path
) -> None:
    study = tmp_path / "odd.yaml"
    study.write_text(OPEN.replace("search: {}, duration: 4s", "warmup: 6s, duration: 4s"))
    study.write_text(study.read_text().replace("metric: saturation", "metric: throughput"))
    told = "line 10: the warm-up of every run (6.0 s) is longer than what is measured (4.0 s)"
    planned = dunnage("plan", study, "--format", "json")
    assert told in planned.err
    assert json.loads(planned.out)["plan"]["blocks"]
    assert told in dunnage("run", study, "--results", tmp_path / "results").err


REAL = """
dunnage: 1
name: real
testbed: {kind: namespace, hosts: {db: 3, client: 1}, memory: 1GiB}
database: {kind: redis, topology: replicas, members: 3}
deployments:
  native: {platform: native}
  tmpfs: {platform: native, storage: tmpfs}
twin: native
workloads: [A]
records: 100
load: {threads: [8], duration: 4s}
blocks: 6
questions:
  Q1: {baseline: native, against: [tmpfs]}
"""


def test_every_factor_in_which_variants_differ_is_shown(dunnage: Command, tmp_path: Path) -> None:
    study = tmp_path / "real.yaml"
    study.write_text(REAL)
    shown = " ".join(dunnage("plan", study).out.split())
    assert "Differs in tmpfs from native: storage: bind → tmpfs" in shown


def test_records_that_do_not_fit_are_told_before_anything_starts(
    dunnage: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    study = tmp_path / "real.yaml"
    study.write_text(REAL)
    assert "the records need" not in dunnage("plan", study).err
    study.write_text(REAL.replace("records: 100", "records: 2_000_000_000"))
    told = " ".join(dunnage("plan", study).err.split())
    assert "the memory of a host is 1.0 GiB" in told
    assert "the memory of this machine is" in told
    assert "the free disk space of this machine is" in told
    assert "this cannot run here: 2,000,000,000 records need" in told
    monkeypatch.setattr(capabilities, "available", lambda _, every: (tuple(every), ()))
    refused = dunnage("run", study, "--yes", "--results", tmp_path / "results")
    assert refused.code == 3
    assert "2,000,000,000 records need" in refused.err
    assert not (tmp_path / "results").exists()


def test_a_study_of_more_than_a_day_starts_only_when_asked(
    dunnage: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    able: defaultdict[Capability, Support] = defaultdict(lambda: Support(met=True))
    monkeypatch.setattr(capabilities, "supports", lambda _: able)
    study = tmp_path / "real.yaml"
    study.write_text(REAL.replace("duration: 4s", "duration: 5h"))
    assert f"start it with: dunnage run {study} --yes" in dunnage("plan", study).err
    refused = dunnage("run", study, "--results", tmp_path / "results")
    assert refused.code == 2
    assert "this study takes about 9" in refused.err
    assert f"try: dunnage run {study} --results {tmp_path / 'results'} --yes" in refused.err
    assert not (tmp_path / "results").exists()


def test_a_duration_above_a_year_is_a_mistake(dunnage: Command, tmp_path: Path) -> None:
    study = tmp_path / "real.yaml"
    study.write_text(REAL.replace("duration: 4s", "duration: 9000h"))
    shown = dunnage("plan", study)
    assert shown.code == 2
    assert "`9000h` is more than a year" in shown.err
