"""A part is one file and one line: a study is carried out with parts that nothing else knows of."""

from __future__ import annotations

import sys
from collections import defaultdict
from dataclasses import replace
from pathlib import Path

import pytest
from toy_database import Toy
from toy_platform import IPVS, Yard

from dunnage import capabilities, catalog
from dunnage.contracts.database import Database
from dunnage.errors import UnavailableError
from dunnage.model.offer import Support
from dunnage.study.expected_time import stay_seconds
from dunnage.study.matrix import deployments
from dunnage.study.plan import make_plan
from dunnage.study.read import read_study
from in_process import typed_here

STUDY = """\
dunnage: 1
name: toys
testbed: {kind: fake, hosts: {db: 1, client: 1}}
database: {kind: toy}
deployments:
  plain: {platform: fake}
  yard: {platform: yard, network: rope, endpoint: ENDPOINT}
twin: plain
workloads: [A]
records: 100
load: {threads: [4], duration: 2s}
blocks: 6
generator: fake
sampler: {kind: fake}
questions:
  Q1: {baseline: plain, against: [yard], metric: throughput, tolerance: 3%}
"""


@pytest.fixture
def toys(monkeypatch: pytest.MonkeyPatch) -> None:
    """One line for each in the catalogue."""
    platforms: dict[str, catalog.PlatformKind] = {**catalog.PLATFORMS, "yard": Yard}
    databases: dict[str, type[Database]] = {**catalog.DATABASES, "toy": Toy}
    monkeypatch.setattr(catalog, "PLATFORMS", platforms)
    monkeypatch.setattr(catalog, "DATABASES", databases)
    offer = replace(
        catalog.OFFER,
        platforms={name: each.offer for name, each in platforms.items()},
        databases={name: each.offer for name, each in databases.items()},
    )
    monkeypatch.setattr(catalog, "OFFER", offer)


@pytest.mark.usefixtures("toys")
def test_a_study_of_toys_is_carried_out_and_told_in_their_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    study = tmp_path / "toys.yaml"
    study.write_text(STUDY.replace("ENDPOINT", "host-port"))
    words = ["dunnage", "run", str(study), "--results", str(tmp_path / "results")]
    monkeypatch.setattr(sys, "argv", words)
    with pytest.raises(SystemExit) as ended:
        typed_here()
    shown = capsys.readouterr()
    assert ended.value.code == 0, shown.err
    assert "Yard with a rope" in " ".join(shown.out.split())
    (page,) = (tmp_path / "results").rglob("index.html")
    text = page.read_text()
    assert "What Yard costs Toy" in text
    assert "FakeYardRopeHostPort" in text


@pytest.mark.usefixtures("toys")
def test_a_study_of_toys_begins_with_what_init_writes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "mine.yaml"
    chosen = ["--database", "toy", "--platform", "fake", "--platform", "yard"]
    monkeypatch.setattr(sys, "argv", ["dunnage", "init", str(path), *chosen])
    with pytest.raises(SystemExit) as ended:
        typed_here()
    assert ended.value.code == 0, capsys.readouterr().err
    study = read_study(path.read_text(), str(path), catalog.OFFER)
    assert [each.title for each in deployments(study, catalog.OFFER)] == [
        "FakePlainHostPort",
        "FakePlainHostPort",
        "FakeLateHostPort",
        "FakeYardRopeHostPort",
    ]
    assert (study.database.kind, study.database.topology) == ("toy", "single")
    assert capabilities.available(study, deployments(study, catalog.OFFER))[1] == ()


@pytest.mark.usefixtures("toys")
def test_the_time_that_toys_take_is_their_own_guess() -> None:
    study = read_study(STUDY.replace("ENDPOINT", "host-port"), "toys.yaml", catalog.OFFER)
    plan = make_plan(study, deployments(study, catalog.OFFER))
    (stay,) = [each for each in plan.blocks[0].stays if each.deployment == "yard"]
    seconds = stay_seconds(stay, plan.deployment("yard"), study)
    assert seconds == pytest.approx(7.0 + 100.0 + 100 / 10.0 + 2.0 + 2.0 + study.load.warmup)


@pytest.mark.usefixtures("toys")
def test_what_an_endpoint_needs_is_asked_of_the_hosts(monkeypatch: pytest.MonkeyPatch) -> None:
    text = STUDY.replace("ENDPOINT", "bell")
    study = read_study(text, "toys.yaml", catalog.OFFER)
    every = deployments(study, catalog.OFFER)
    assert [each.title for each in every] == [
        "FakePlainHostPort",
        "FakePlainHostPort",
        "FakeYardBell_rope",
    ]
    here = defaultdict(lambda: Support(met=True))
    here[IPVS] = Support(met=False, reason="IPVS is not in this kernel", hint="modprobe ip_vs")
    monkeypatch.setattr(capabilities, "supports", lambda _: here)
    with pytest.raises(UnavailableError, match="`yard`: IPVS is not in this kernel"):
        capabilities.available(study, every)
