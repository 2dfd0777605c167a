"""`dunnage path`: the way to each member, living or as a result recorded it."""

from __future__ import annotations

import json
import re
import signal
from pathlib import Path

import pytest
from command import Command

from dunnage.platforms.fake import FakePlatform
from dunnage.runner.interrupt import ENDING_NOW, LEAVING
from dunnage.runner.rest import OF_A_LAB
from dunnage.store.layout import ResultLayout

STUDY = """
dunnage: 1
name: ways
testbed: {kind: fake, hosts: {db: 2, client: 1}}
database: {kind: fake, topology: single}
deployments:
  plain: {platform: fake, network: plain}
  late: {platform: fake, network: late}
  named: {platform: fake, network: named, endpoint: container-dns, client: container}
workloads: [A]
load: {threads: [1], duration: 4s}
blocks: 1
generator: fake
sampler: {kind: fake}
questions:
  Q1: {baseline: plain, against: [late], metric: throughput, tolerance: 5%}
"""


@pytest.fixture
def study(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "ways.yaml"
    path.write_text(STUDY, encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("deployment", "kinds"),
    [
        ("plain", ["client", "device", "wire", "device", "member"]),
        ("late", ["client", "device", "wire", "device", "translation", "member"]),
        ("named", ["client", "tunnel", "device", "wire", "device", "tunnel", "member"]),
    ],
)
def test_a_living_deployments_path_is_drawn_and_nothing_is_written(
    dunnage: Command, study: Path, deployment: str, kinds: list[str]
) -> None:
    shown = dunnage("path", study, deployment)
    assert shown.code == 0
    head, *lines = shown.out.splitlines()
    assert head.startswith("From client-1 to ")
    assert [line.lstrip("↓ ").split()[0] for line in lines] == kinds
    assert [each.name for each in study.parent.iterdir()] == ["ways.yaml"]
    assert told(shown.err) == ("", ["3 hosts", "fake, ready", f"{deployment}, ready"])


def test_json_holds_what_a_stay_would_record(dunnage: Command, study: Path) -> None:
    answer = json.loads(dunnage("path", study, "late", "--format", "json").out)
    assert answer["deployment"] == "late"
    (path,) = answer["paths"]
    assert path["unknown"] == ""
    assert path["hops"][-1]["kind"] == "member"


def test_a_deployment_that_is_not_there_is_refused_with_those_that_are(
    dunnage: Command, study: Path
) -> None:
    shown = dunnage("path", study, "lat")
    assert shown.code == 2
    assert "there is no deployment `lat`; did you mean `late`?" in shown.err
    assert "try: dunnage plan" in shown.err


def test_a_result_shows_what_its_first_stay_recorded_and_starts_nothing(
    dunnage: Command, study: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert dunnage("run", study).code in (0, 5)
    living = dunnage("path", study, "late").out
    monkeypatch.setattr("dunnage.cli.path.paths_of", None)
    shown = dunnage("path", study.parent / "results", "late")
    assert shown.code == 0
    assert shown.out.splitlines()[:2] == living.splitlines()[:2]
    assert "Recorded in stay `" in shown.err
    answer = json.loads(dunnage("path", study.parent / "results", "late", "--format", "json").out)
    assert answer["differing"] == []
    assert answer["stays"] == 1
    assert dunnage("path", study.parent / "results", "lost").code == 2


def test_a_result_without_paths_says_how_to_get_one(dunnage: Command, study: Path) -> None:
    assert dunnage("run", study).code in (0, 5)
    (result,) = (study.parent / "results" / "ways").iterdir()
    for file in ResultLayout(result).stays.glob("*/stay.json"):
        record = json.loads(file.read_text(encoding="utf-8"))
        file.write_text(json.dumps({**record, "paths": []}), encoding="utf-8")
    shown = dunnage("path", result, "late")
    assert shown.code == 4
    assert "no stay of deployment `late` recorded its network path" in shown.err
    assert f"try: dunnage path {result}/study.yaml late" in shown.err


def test_ctrl_c_ends_it_now_and_what_was_started_is_removed(
    dunnage: Command, study: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    down = FakePlatform.down
    removed: list[FakePlatform] = []

    def struck(*_: object) -> None:
        signal.raise_signal(signal.SIGINT)

    def struck_again(platform: FakePlatform) -> None:
        signal.raise_signal(signal.SIGINT)
        down(platform)
        removed.append(platform)

    monkeypatch.setattr(FakePlatform, "reserve", struck)
    monkeypatch.setattr(FakePlatform, "down", struck_again)
    shown = dunnage("path", study, "plain")
    assert (shown.code, len(removed)) == (130, 1)
    assert told(shown.err) == (
        f"{ENDING_NOW}\n{LEAVING.format(OF_A_LAB)}\ndunnage: interrupted\n",
        ["3 hosts", "fake, ready"],
    )


def test_ctrl_c_while_all_is_removed_anyway_costs_no_answer(
    dunnage: Command, study: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    down = FakePlatform.down

    def struck(platform: FakePlatform) -> None:
        signal.raise_signal(signal.SIGINT)
        down(platform)

    monkeypatch.setattr(FakePlatform, "down", struck)
    shown = dunnage("path", study, "plain")
    assert (shown.code, told(shown.err)[0]) == (0, f"{LEAVING.format(OF_A_LAB)}\n")
    assert shown.out


def told(errors: str) -> tuple[str, list[str]]:
    """What was said, and apart from it the steps that were told with their times."""
    steps = re.findall(r"(?m)^ *[\d.]+ s  (.*)$", errors)
    return re.sub(r"(?m)^ *[\d.]+ s  .*\n", "", errors), steps
