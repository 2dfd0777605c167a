"""Loads beyond threads, from the study file to the answer, with the fakes."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from dunnage.hosts.fake.load import CAPACITY, LATE_SHARE, SERVICE
from dunnage.store.read import Result, open_result
from in_process import typed_here

STUDY = """
dunnage: 1
name: loads
testbed: {kind: fake, hosts: {db: 3, client: 1}}
database: {kind: fake, topology: single}
deployments:
  plain: {platform: fake, network: plain}
  late: {platform: fake, network: late}
twin: plain
workloads: [A]
records: 100
load: {LOAD, warmup: 1s}
blocks: BLOCKS
generator: fake
sampler: {kind: fake, rate: 5Hz}
questions:
  Q1: {baseline: plain, against: [late], metric: METRIC, tolerance: 3%}
"""


class Ended:
    """An answer, and the result that it was made of."""

    def __init__(self, code: object, shown: str, root: Path) -> None:
        self.code = code
        self.analysis: dict[str, Any] = json.loads(shown)["analysis"]
        self.result: Result = open_result(root)

    def comparison(self, level: str) -> dict[str, Any]:
        (answer,) = self.analysis["answers"]
        (found,) = (each for each in answer["comparisons"] if each["level"] == level)
        return dict(found)

    def events(self, name: str) -> list[dict[str, Any]]:
        return [dict(each) for each in self.result.events() if each["event"] == name]


class Command:
    """The real command on a study of its own."""

    def __init__(
        self, tmp: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        self._tmp, self._monkeypatch, self._capsys = tmp, monkeypatch, capsys
        self.results = tmp / "results"

    def run(self, load: str, metric: str, blocks: int = 1, database: str = "") -> Ended:
        text = STUDY.replace("LOAD", load).replace("METRIC", metric)
        text = text.replace("BLOCKS", str(blocks))
        text = text.replace("topology: single", f"topology: single{database}")
        study = self._tmp / "study.yaml"
        study.write_text(text)
        return self.verb("run", str(study), "--results", str(self.results))

    def verb(self, *words: str) -> Ended:
        self._monkeypatch.setattr(sys, "argv", ["dunnage", *words, "--format", "json"])
        with pytest.raises(SystemExit) as ended:
            typed_here()
        return Ended(ended.value.code, self._capsys.readouterr().out, self.results)


@pytest.fixture
def command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Command:
    return Command(tmp_path, monkeypatch, capsys)


def closed(threads: int) -> float:
    """What the fake database reaches in a closed loop."""
    return threads / (SERVICE + threads / CAPACITY)


def test_a_share_is_a_rate_of_what_the_baseline_reached_before_block_one(command: Command) -> None:
    ended = command.run("threads: [8], rate: [2000, 60%], duration: 4s", "response.p95")
    assert ended.code == 0
    calibration = ended.result.calibration
    assert calibration is not None
    found = calibration.capacities["A"]
    assert found.throughput == pytest.approx(closed(8), rel=0.02)
    levels = {record.level.name: record.level for record in ended.result.records}
    assert sorted(levels) == ["r2000", "s60", "t8"]
    assert levels["s60"].rate == round(0.6 * found.throughput)
    planned = {run.level.name: run.level.rate for run in ended.result.plan.runs()}
    assert planned == {"t8": None, "r2000": 2000.0, "s60": None}
    asked = {each["level"] for each in ended.analysis["answers"][0]["comparisons"]}
    assert asked == {"r2000", "s60"}
    values = {run["level"]: run["values"] for run in ended.analysis["runs"]}
    assert values["s60"]["achieved"] == pytest.approx(1.0, abs=0.01)
    assert values["s60"]["offered"] == levels["s60"].rate
    assert "backlog.slope" in values["s60"] and "achieved" not in values["t8"]


def test_the_calibration_is_kept_beside_the_runs_and_no_part_of_any_estimate(
    command: Command,
) -> None:
    ended = command.run("rate: [60%], connections: 8, duration: 4s", "response.p95")
    runs = [run.id for run in ended.result.plan.runs()]
    kept = [record.run for record in ended.result.calibration_records]
    assert kept == [f"calibration-A-t8-{at}" for at in (1, 2, 3)]
    assert not {run["run"] for run in ended.analysis["runs"]} - set(runs)
    assert (ended.analysis["planned"], ended.analysis["missing"]) == (len(runs), 0)
    assert {stay.block for stay in ended.result.stays} == {1}
    events = [event["event"] for event in ended.result.events()]
    assert events.index("calibrated") < events.index("run begins", events.index("calibrated"))
    assert next(event["stay"] for event in ended.events("stay begins")) == "calibration"


def test_a_resumed_study_uses_the_capacity_that_is_there(command: Command) -> None:
    ended = command.run("rate: [60%], connections: 8, duration: 4s", "response.p95", blocks=2)
    root = ended.result.layout.root
    written = ended.result.layout.calibration.read_bytes()
    gone = [record for record in ended.result.records if record.block == 2]
    for record in gone:
        ended.result.layout.record(record.run).unlink()
    again = command.verb("run", "--resume", str(root))
    assert again.code == 0
    assert again.result.layout.calibration.read_bytes() == written
    assert len(again.events("calibrated")) == 1
    assert len(again.result.records) == len(ended.result.records)
    assert {record.level.rate for record in again.result.records} == {gone[0].level.rate}


def test_a_calibration_that_was_cut_off_goes_on_with_the_runs_it_has(command: Command) -> None:
    ended = command.run("rate: [60%], connections: 8, duration: 4s", "response.p95")
    layout = ended.result.layout
    layout.calibration.unlink()
    lines = layout.journal.read_text().splitlines(keepends=True)
    layout.journal.write_text("".join(x for x in lines if layout.calibration.name not in x))
    layout.record("calibration-A-t8-3").unlink()
    for record in ended.result.records:
        layout.record(record.run).unlink()
    again = command.verb("run", "--resume", str(layout.root))
    repeated = [event["run"] for event in again.events("run finished")]
    counted = {run: repeated.count(run) for run in repeated if run.startswith("calibration")}
    assert counted == {f"calibration-A-t8-{at}": 1 + (at == 3) for at in (1, 2, 3)}
    assert again.result.calibration == ended.result.calibration


def test_a_search_finds_the_capacity_and_what_the_late_network_costs_of_it(
    command: Command,
) -> None:
    load = "search: {start: 15000, precision: 2%, objective: {response.p99: 50ms}}"
    ended = command.run(load, "saturation", blocks=6)
    assert ended.code == 0
    found = ended.comparison("search")
    assert found["verdict"] == "overhead"
    assert found["difference"]["low"] <= -LATE_SHARE * 0.8
    assert found["difference"]["high"] >= -LATE_SHARE * 1.2
    for record in ended.result.records:
        assert record.search is not None and record.search.rate is not None
        most = CAPACITY * (1 - LATE_SHARE * (record.deployment == "late"))
        assert most * 0.95 <= record.search.rate <= most * 1.03
        assert {probe.sustained for probe in record.search.probes} == {True, False}
        kept = [name for name in record.artefacts if "probe-01" in name]
        assert kept and all((ended.result.layout.run(record.run) / name).exists() for name in kept)
    values = ended.analysis["runs"][0]["values"]
    assert "saturation" in values and "service.p95" not in values


def test_a_server_of_two_milliseconds_at_nine_tenths_of_the_rate_is_over_capacity(
    command: Command,
) -> None:
    slow = ", settings: {service: 0.002}"
    rate = round(500 / 0.9)
    ended = command.run(
        f"rate: [300, {rate}], connections: 16, duration: 10s", "response.p95", 6, database=slow
    )
    ended.analysis["runs"] = [run for run in ended.analysis["runs"] if run["level"] != "r300"]
    assert ended.comparison("r300")["verdict"] == "overhead"
    assert ended.analysis["answers"][0]["complete_blocks"] == 6
    assert ended.code == 0
    found = ended.comparison(f"r{rate}")
    assert found["verdict"] == "inconclusive"
    (over,) = [each for each in found["overloads"] if each["deployment"] == "late"]
    assert (found["ground"], over["over"], over["runs"]) == ("overloaded", 6, 6)
    assert found["difference"]["n"] == 0
    assert all(run["over_capacity"] for run in ended.analysis["runs"])
    assert all(run["status"] == "valid" for run in ended.analysis["runs"])
    plain = [run["values"] for run in ended.analysis["runs"] if run["deployment"] == "plain"]
    assert [each["achieved"] for each in plain] == pytest.approx([0.9] * 6, abs=0.02)
    assert [each["backlog.slope"] for each in plain] == pytest.approx([0.1] * 6, abs=0.02)
    throughput = next(
        each
        for each in ended.analysis["comparisons"]
        if (each["deployment"], each["metric"]) == ("late", "throughput")
        and each["level"] == f"r{rate}"
    )
    assert throughput["verdict"] == "overhead"
    assert throughput["difference"]["value"] == pytest.approx(-LATE_SHARE, abs=0.01)
