"""`--format json` gives one document that a program can read, and nothing beside it."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from command import Command, Shown

from dunnage import capabilities, lab_tool
from dunnage.hosts.clean import Leftover
from dunnage.hosts.first_process import Identity
from dunnage.hosts.lab import SWITCH
from dunnage.model.offer import FLOATING, IPVS, VXLAN, Support
from dunnage.platforms.kubernetes.offer import KUBERNETES
from dunnage.software.engine import ENGINE

STUDY = """\
dunnage: 1
name: small
testbed: {kind: fake, hosts: {db: 3, client: 1}}
database: {kind: fake, topology: single}
deployments:
  plain: {platform: fake, network: plain}
  late: {platform: fake, network: late}
workloads: [A]
records: 100
load: {threads: [4], warmup: 0s, duration: 2s}
blocks: 2
generator: fake
sampler: {kind: fake}
"""


def document(shown: Shown) -> Any:
    return json.loads(shown.out)


@pytest.fixture
def results(dunnage: Command, tmp_path: Path) -> Path:
    """Results in a directory whose name would be markup, and a danger to a shell."""
    directory = tmp_path / "[bold]$(x) y[b]"
    directory.mkdir()
    study = directory / "study.yaml"
    study.write_text(STUDY)
    shown = dunnage("run", study, "--results", directory / "results", "--format", "json")
    assert shown.code in (0, 5), shown.err
    assert document(shown)["result"].startswith(str(directory))
    return directory / "results"


def test_a_plan_is_one_document(dunnage: Command, tmp_path: Path) -> None:
    study = tmp_path / "study.yaml"
    study.write_text(STUDY)
    shown = dunnage("plan", study, "--format", "json")
    assert shown.code == 0
    plan = document(shown)
    assert plan["seconds"] > 0
    assert len(plan["plan"]["blocks"]) == 2
    assert shown.err == ""


def test_status_and_report_are_one_document_each(dunnage: Command, results: Path) -> None:
    status = document(dunnage("status", results, "--format", "json"))
    assert status["finished"] == status["planned"] == 4
    assert status["failures"] == status["missing"] == []
    report = document(dunnage("report", results, "--format", "json"))
    assert report["result"] == status["result"]
    assert Path(report["page"]).exists()


def test_the_next_command_can_be_typed_whatever_the_directory_is_called(
    dunnage: Command, results: Path
) -> None:
    (record, *_) = results.rglob("record.json")
    root = record.parents[2]
    assert f"next: dunnage report '{root}'" in dunnage("status", results).err
    shutil.rmtree(record.parent)
    shown = dunnage("status", results)
    assert f"next: dunnage run --resume '{root}'" in shown.err
    with (root / "journal.jsonl").open("a") as journal:
        why = "log: [/] \x1b[2J[bold]x"
        journal.write(
            json.dumps({"version": 2, "event": "stay failed", "stay": "b01", "why": why}) + "\n"
        )
        lost = {
            "version": 2,
            "event": "loading failed",
            "of": "b02-A",
            "attempt": 1,
            "why": "too few",
        }
        journal.write(json.dumps(lost) + "\n")
    told = dunnage("status", results).out
    assert "stay failed b01: log: [/] \ufffd[2J[bold]x" in told
    assert "loading failed b02-A: too few" in told
    failures = document(dunnage("status", results, "--format", "json"))["failures"]
    assert failures[0]["why"] == why


@pytest.mark.parametrize("met", [True, False])
def test_doctor_tells_every_capability_and_every_endpoint(
    dunnage: Command, monkeypatch: pytest.MonkeyPatch, met: bool
) -> None:
    reason, hint = "no [/] \x1b[2Jdockerd", "apt-get install x  # [bold]"
    every = (*capabilities.QUICKSTART_NEEDS, VXLAN, IPVS, FLOATING, KUBERNETES)
    here = {each: Support(met, "" if met else reason, hint) for each in every}
    monkeypatch.setattr(capabilities, "supports", lambda _: here)
    shown = dunnage("doctor", "--format", "json")
    assert shown.code == (0 if met else 3)
    told = document(shown)
    assert set(told["capabilities"]) == set(every)
    known = [(each["platform"], each["network"], each["endpoint"]) for each in told["endpoints"]]
    assert ("swarm", "overlay", "service-ip") in known
    assert not any(platform == "fake" for platform, _, _ in known)
    for each in told["endpoints"]:
        assert set(each) == {"platform", "network", "endpoint", "lacks"}
        assert bool(each["lacks"]) is not met
        assert {told["capabilities"][need]["reason"] for need in each["lacks"]} <= {reason}
    text = dunnage("doctor")
    assert text.code == shown.code
    assert "\x1b" not in text.out
    assert "[bold]" in text.out
    assert ("dunnage quickstart --fake" in text.err) is not met


def test_doctor_tells_a_cause_that_all_endpoints_share_once(
    dunnage: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    every = (*capabilities.QUICKSTART_NEEDS, VXLAN, IPVS, FLOATING, KUBERNETES)
    here = {each: Support(met=True) for each in every}
    here |= {IPVS: Support(False, "no spreading", "modprobe x")}
    monkeypatch.setattr(capabilities, "supports", lambda _: here)
    shown = dunnage("doctor").out
    assert "no endpoint can run here" not in shown
    assert shown.count("no spreading") == 1
    assert ["swarm", "overlay", "service-ip", "no", "ipvs"] in map(str.split, shown.splitlines())
    here |= {ENGINE: Support(False, "not built", "make engine")}
    shown = dunnage("doctor").out
    assert "no endpoint can run here: all need engine\n" in shown
    assert shown.count("not built") == shown.count("make engine") == 1
    assert ["swarm", "overlay", "service-ip", "no", "ipvs"] in map(str.split, shown.splitlines())
    assert "also lacks" in shown


def test_clean_tells_what_it_removed(dunnage: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    began = {"db-1": Identity(1, 2), SWITCH: Identity(3, 4)}
    removed = (
        Leftover("0123abcd", "[bold]x" + "y" * 80, kept=True, first=began),
        Leftover("89abcdef", "", kept=False),
    )
    monkeypatch.setattr(lab_tool, "clean", lambda *, kept: removed if kept else ())
    monkeypatch.setattr(lab_tool, "standing_labs", tuple)  # others may have left some
    shown = document(dunnage("clean", "--kept", "--format", "json"))["removed"]
    assert [each["lab"] for each in shown] == ["0123abcd", "89abcdef"]
    assert [each["hosts"] for each in shown] == [1, 0]
    first, second = dunnage("clean", "--kept").out.splitlines()
    assert first.startswith(f"lab 0123abcd of `{removed[0].purpose}`: 1 host, their processes")
    assert second.startswith("lab 89abcdef: 0 hosts")
    assert document(dunnage("clean", "--format", "json")) == {"removed": []}
    assert dunnage("clean").err == "nothing to remove\n"
