"""`dunnage compare` as a gate: what it shows and how it ends."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from command import Command
from measured import a_day_later, measured, without_checksums

from dunnage.cli.shared.terminal import out
from dunnage.model.record import Record, Restart
from dunnage.store.read import open_result
from dunnage.store.write import write_value

STUDY = """
dunnage: 1
name: nightly
testbed: {kind: fake, hosts: {db: 3, client: 1}}
database: {kind: fake, topology: single}
deployments:
  plain: {platform: fake, network: plain}
  late: {platform: fake, network: late}
twin: plain
workloads: [A]
records: 100
load: {threads: [4], warmup: 0s, duration: 2s}
blocks: 6
generator: fake
sampler: {kind: fake}
questions:
  Q: {baseline: plain, against: [late], tolerance: 5%}
"""


@pytest.fixture(scope="module")
def monday(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return measured(STUDY, tmp_path_factory.mktemp("nightly"))


@pytest.fixture
def tuesday(monday: Path, tmp_path: Path) -> Path:
    root = tmp_path / "tuesday [bold]"
    subprocess.run(["cp", "-a", str(monday), str(root)], check=True)
    a_day_later(root)
    return root


def slow_down(root: Path, deployment: str, factor: float) -> None:
    without_checksums(root)
    result = open_result(root)
    for record in result.records:
        if record.deployment == deployment:
            measured = record.measurement
            assert measured is not None
            longer = measured.model_copy(update={"seconds": measured.seconds * factor})
            slower: Record = record.model_copy(update={"measurement": longer})
            write_value(result.layout.record(record.run), slower)


def change(root: Path, fact: str, value: str) -> None:
    without_checksums(root)
    path = root / "environment.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {fact: value}))


def test_nothing_changed_ends_with_0(dunnage: Command, monday: Path, tuesday: Path) -> None:
    shown = dunnage("compare", monday, tuesday)
    assert shown.code == 0, shown.err
    assert "≈ equivalent" in shown.out
    assert "measured at different times" in " ".join(shown.out.split())
    assert "Welch's t interval" in " ".join(shown.out.split())


def test_a_regression_ends_with_6_and_is_named(
    dunnage: Command, monday: Path, tuesday: Path
) -> None:
    slow_down(tuesday, "late", 1.3)
    shown = dunnage("compare", monday, tuesday)
    assert shown.code == 6
    assert "1 regression: late (throughput)" in shown.err
    assert "▼ regression" in shown.out
    assert dunnage("compare", tuesday, monday).code == 0
    assert dunnage("compare", monday, tuesday, "--tolerance", "40%").code == 0


def test_what_cannot_be_compared_ends_with_7_and_names_the_fact(
    dunnage: Command, monday: Path, tuesday: Path
) -> None:
    change(tuesday, "kernel", "6.2 \x1b[2J[bold]")
    shown = dunnage("compare", monday, tuesday)
    assert shown.code == 7
    assert "environment: kernel: fake → 6.2 \ufffd[2J[bold]" in shown.err
    assert "--anyway" in shown.err
    assert "regression" not in shown.out
    asked = dunnage("compare", monday, tuesday, "--anyway")
    assert asked.code == 0
    assert "environment: kernel: fake →" in asked.err
    assert "no change has a known cause" in asked.err
    assert "equivalent" in asked.out


def test_a_program_reads_the_same_answer(dunnage: Command, monday: Path, tuesday: Path) -> None:
    for name in ("plain", "plain-twin"):
        slow_down(tuesday, name, 1.3)
    shown = dunnage("compare", monday, tuesday, "--format", "json")
    assert shown.code == 6
    found = json.loads(shown.out)
    assert found["comparable"] is True
    assert found["b"]["path"] == str(tuesday)
    regressed = {c["deployment"] for c in found["changes"] if c["verdict"] == "regression"}
    assert "plain" in regressed
    change(tuesday, "kernel", "6.2")
    refused = json.loads(dunnage("compare", monday, tuesday, "--format", "json").out)
    assert refused["comparable"] is False
    assert refused["changes"] == []
    (found,) = refused["mismatches"]
    assert (found["kind"], found["key"], found["a"], found["b"]) == (
        "environment",
        "kernel",
        "fake",
        "6.2",
    )


def test_results_without_an_interval_never_pass_a_gate(
    dunnage: Command, monday: Path, tmp_path: Path
) -> None:
    (tmp_path / "study.yaml").write_text(STUDY)
    words = ("run", tmp_path / "study.yaml", "--results", tmp_path, "--blocks", "2")
    assert dunnage(*words).code == 0
    shown = dunnage("compare", monday, tmp_path)
    assert shown.code == 5
    assert "the second result has 2 blocks, 6 are needed; to add them: " in shown.err
    assert "--blocks +4`" in shown.err


def lose(root: Path, runs: str) -> None:
    lost = [str(path) for path in (root / "runs").glob(runs)]
    assert lost
    subprocess.run(["rm", "-r", *lost], check=True)


@pytest.mark.parametrize(
    ("runs", "told"),
    [
        ("*-late-*", "not everything could be compared, so no regression is ruled out"),
        ("b01-late-*", "no interval for late (throughput)"),
        ("*-plain-twin-*", "no A/A bound for plain (throughput)"),
        ("*-plain-twin-*", "the second result has 0 blocks with both twins, 6 are needed"),
        ("b01-plain-twin-*", "the second result has 5 blocks with both twins, 6 are needed"),
    ],
)
def test_a_result_that_lost_runs_passes_no_gate(
    dunnage: Command, monday: Path, tuesday: Path, runs: str, told: str
) -> None:
    lose(tuesday, runs)
    shown = dunnage("compare", monday, tuesday)
    assert shown.code == 5
    assert told in shown.err


@pytest.mark.parametrize("width", [30, 40, 45, 60])
def test_a_narrow_terminal_shows_every_number_with_its_name(
    dunnage: Command,
    monday: Path,
    tuesday: Path,
    monkeypatch: pytest.MonkeyPatch,
    width: int,
) -> None:
    monkeypatch.setattr(out, "_width", 200)
    wide = " ".join(dunnage("compare", monday, tuesday).out.split())
    monkeypatch.setattr(out, "_width", width)
    narrow = " ".join(dunnage("compare", monday, tuesday).out.split())
    intervals = re.findall(r"[+−]\S+ … [+−]\S+ %", wide)
    assert intervals
    assert all(interval in narrow for interval in intervals)
    assert narrow.count("Service time, p95") >= 2
    assert " + …" not in narrow


def test_a_result_without_a_twin_is_named(dunnage: Command, monday: Path, tmp_path: Path) -> None:
    without = measured(STUDY.replace("twin: plain\n", ""), tmp_path)
    shown = dunnage("compare", monday, without, "--anyway")
    assert shown.code == 5
    assert "no A/A bound for plain (throughput)" in shown.err
    assert "the second result has no twin" in shown.err


def test_what_both_results_lost_passes_no_gate(
    dunnage: Command, monday: Path, tuesday: Path
) -> None:
    lose(tuesday, "*-late-*")
    wednesday = shutil.copytree(tuesday, tuesday.with_name("wednesday"))
    a_day_later(wednesday)
    shown = dunnage("compare", tuesday, wednesday)
    assert shown.code == 5
    assert "late, A, t4: neither result has a valid run" in " ".join(shown.out.split())


@pytest.mark.parametrize("tolerance", ["much", "0", "150%", "-3%"])
def test_a_tolerance_that_is_none_is_refused(
    dunnage: Command, monday: Path, tolerance: str
) -> None:
    shown = dunnage("compare", monday, monday, f"--tolerance={tolerance}")
    assert shown.code == 2
    assert "--tolerance" in shown.err


def test_a_result_that_is_not_there_is_told(dunnage: Command, monday: Path, tmp_path: Path) -> None:
    shown = dunnage("compare", monday, tmp_path)
    assert shown.code == 2
    assert "there is no result here" in shown.err


def test_a_result_is_not_compared_with_itself(dunnage: Command, monday: Path) -> None:
    shown = dunnage("compare", monday, monday / "." / "..", "--anyway")
    assert shown.code == 2
    assert "both are the same result, so there is nothing to compare" in shown.err


def test_of_many_facts_the_weightiest_are_listed_and_all_on_demand(
    dunnage: Command, monday: Path, tuesday: Path
) -> None:
    for number in range(9):
        change(tuesday, f"a.fact.{number}", "other")
        change(tuesday, f"b.fact.{number}", "other")
    change(tuesday, "kernel", "another")
    few = dunnage("compare", monday, tuesday)
    assert few.code == 7
    assert "not comparable: 19 facts differ" in few.err
    facts = [line for line in few.err.splitlines() if line.startswith("  environment")]
    assert len(facts) == 5
    assert "kernel" in facts[0]
    assert "  and 14 more: " in few.err
    every = dunnage("compare", monday, tuesday, "--all")
    assert sum(line.startswith("  environment") for line in every.err.splitlines()) == 19


def test_it_fits_eighty_columns_and_says_once_what_was_left_out(
    dunnage: Command, monday: Path, tuesday: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(out, "_width", 80)
    lines = dunnage("compare", monday, tuesday).out.splitlines()
    assert max(map(len, lines)) <= 80
    assert "CPU per operation, database hosts" in "\n".join(lines)
    lose(tuesday, "*-late-*")
    left = dunnage("compare", monday, tuesday).out.partition("Left out")[2]
    told = " ".join(left.partition("Method")[0].split())
    assert told.count("the second result has no value") == 1
    assert told.startswith("late, throughput, cpu.database, ")


def test_what_was_restarted_of_a_kubernetes_in_either_result_is_told(
    dunnage: Command, monday: Path, tuesday: Path
) -> None:
    without_checksums(tuesday)
    result = open_result(tuesday)
    record = next(each for each in result.records if each.deployment == "late")
    killed = Restart(host="db-1", program="daemon", code=-9, time=record.started)
    write_value(result.layout.record(record.run), record.model_copy(update={"restarts": (killed,)}))
    shown = dunnage("compare", monday, tuesday)
    assert shown.code == 0, shown.err
    told = f"programs that it stands on were restarted: daemon on db-1 (stay {record.stay})"
    assert " ".join(shown.err.split()).count(told) == 1
    answer = json.loads(dunnage("compare", monday, tuesday, "--format", "json").out)
    assert answer["a"]["restarted"] == []
    assert [each["stay"] for each in answer["b"]["restarted"]] == [record.stay]


def test_a_place_under_the_name_of_a_secret_costs_no_word(
    dunnage: Command, monday: Path, tuesday: Path
) -> None:
    place = tuesday.rename(tuesday.with_name("password"))
    (run, *_) = sorted((place / "runs").iterdir())
    (run / "record.json").write_text("{")
    assert f"`{place}`: 1 file of this result is damaged" in dunnage("compare", monday, place).err
    assert re.search(rf"`{place}`: \d+ files examined, 1 damaged", dunnage("verify", place).err)


def test_parts_of_one_result_lead_to_no_circle(dunnage: Command, monday: Path) -> None:
    stays, runs, above = monday / "stays", monday / "runs", monday.parents[1]
    for pair in ((stays, above), (above, stays), (stays, runs), (monday, runs)):
        shown = dunnage("compare", *pair)
        assert shown.code == 2
        assert "both are the same result, so there is nothing to compare" in shown.err
        assert "try: name two results, the earlier one first\n" in shown.err
