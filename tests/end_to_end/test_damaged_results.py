"""Results whose files were damaged, changed or replaced: what each verb says of them."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import attempts
import pytest
from hostile import Shown, dunnage

from dunnage.errors import ExitCode
from dunnage.model.record import RECORD_VERSION
from dunnage.store.events import ADDED
from dunnage.store.layout import ResultLayout
from dunnage.store.parse import text_of
from dunnage.store.read import Result, open_result
from dunnage.store.regular import regular_bytes
from dunnage.store.whole import Examined, Holds, examine
from dunnage.store.write import JOURNAL_VERSION, ResultWriter

SINGLE = "topology: single"
STUDY = attempts.changed(
    ("name: tried", "name: whole"),
    ("hosts: {db: 3,", "hosts: {db: 1,"),
    ("topology: sharded, members: 3", SINGLE),
    ("blocks: 6", "blocks: 3"),
)
RUNS = 9
VERSION = f'"version": {JOURNAL_VERSION}'


class Spot(NamedTuple):
    """A result, and one of its runs."""

    root: Path
    run: str

    @property
    def record(self) -> Path:
        return ResultLayout(self.root).record(self.run)

    @property
    def load(self) -> Path:
        """What the load generator left."""
        return next(self.record.parent.glob("*.result.json"))

    @property
    def samples(self) -> Path:
        return next(self.record.parent.glob("*samples.jsonl"))

    @property
    def stay(self) -> Path:
        stay = json.loads(self.record.read_text())["stay"]
        return ResultLayout(self.root).stay(stay)


Change = Callable[[Spot], Path]
"""Damages a result; returns the damaged file."""


def truncated(file: Callable[[Spot], Path]) -> Change:
    def change(spot: Spot) -> Path:
        path = file(spot)
        path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
        return path

    return change


def garbled(file: Callable[[Spot], Path]) -> Change:
    def change(spot: Spot) -> Path:
        path = file(spot)
        path.write_bytes(bytes(range(256)) * (path.stat().st_size // 256 + 1))
        return path

    return change


def emptied(file: Callable[[Spot], Path]) -> Change:
    def change(spot: Spot) -> Path:
        path = file(spot)
        path.write_bytes(b"")
        return path

    return change


def removed(file: Callable[[Spot], Path]) -> Change:
    def change(spot: Spot) -> Path:
        path = file(spot)
        path.unlink()
        return path

    return change


def piped(file: Callable[[Spot], Path]) -> Change:
    def change(spot: Spot) -> Path:
        path = file(spot)
        path.unlink()
        os.mkfifo(path)
        return path

    return change


def a_directory(file: Callable[[Spot], Path]) -> Change:
    def change(spot: Spot) -> Path:
        path = file(spot)
        path.unlink()
        path.mkdir()
        return path

    return change


def huge(file: Callable[[Spot], Path]) -> Change:
    """Of a size that no memory holds; it has holes, so the disk need not either."""

    def change(spot: Spot) -> Path:
        path = file(spot)
        os.truncate(path, 64 * 2**30)
        return path

    return change


def endless(file: Callable[[Spot], Path]) -> Change:
    def change(spot: Spot) -> Path:
        path = file(spot)
        path.unlink()
        path.symlink_to("/dev/zero")
        return path

    return change


def replaced(file: Callable[[Spot], Path], old: str, new: str) -> Change:
    def change(spot: Spot) -> Path:
        path = file(spot)
        text = path.read_text()
        assert old in text
        path.write_text(text.replace(old, new, 1))
        return path

    return change


def without_its_last_line(file: Callable[[Spot], Path]) -> Change:
    def change(spot: Spot) -> Path:
        path = file(spot)
        *lines, _ = path.read_text().splitlines(keepends=True)
        path.write_text("".join(lines))
        return path

    return change


def edited(spot: Spot) -> Path:
    """One number of a record is another."""
    record = json.loads(spot.record.read_text())
    record["measurement"]["operations"]["all"]["count"] *= 2
    spot.record.write_text(json.dumps(record, indent=1))
    return spot.record


def not_a_number(spot: Spot) -> Path:
    record = json.loads(spot.record.read_text())
    record["measurement"]["seconds"] = float("nan")
    spot.record.write_text(json.dumps(record, indent=1))
    return spot.record


def of_another_run(spot: Spot) -> Path:
    other = next(p for p in spot.record.parent.parent.iterdir() if p.name != spot.run)
    shutil.copy(other / "record.json", spot.record)
    return spot.record


def leading_out(spot: Spot) -> Path:
    record = json.loads(spot.record.read_text())
    record["artefacts"].append("../../../../etc/passwd")
    spot.record.write_text(json.dumps(record, indent=1))
    return spot.record


def record(spot: Spot) -> Path:
    return spot.record


def load(spot: Spot) -> Path:
    return spot.load


def samples(spot: Spot) -> Path:
    return spot.samples


def stay(spot: Spot) -> Path:
    return spot.stay


OF_A_RUN: Mapping[str, tuple[Change, str]] = {
    "record missing": (removed(record), "it is missing"),
    "record truncated": (truncated(record), "it is truncated"),
    "record empty": (emptied(record), "it is truncated"),
    "record garbled": (garbled(record), "its content is not what such a file holds"),
    "record of a newer version": (
        replaced(record, f'"version": {RECORD_VERSION}', '"version": 999'),
        "a newer Dunnage wrote it (999)",
    ),
    "record with an edited number": (edited, "changed after it was written"),
    "record without a number": (not_a_number, "its content is not what such a file holds"),
    "record of another run": (of_another_run, "belongs to another run"),
    "record that leads out": (leading_out, "not what such a file holds"),
    "record is a pipe": (piped(record), "cannot be read (this is a pipe"),
    "record is a directory": (a_directory(record), "cannot be read (this is a directory"),
    "record is huge": (huge(record), "cannot be read (it is too large"),
    "record is endless": (endless(record), "cannot be read (this is a device"),
    "load missing": (removed(load), "it is missing"),
    "load truncated": (truncated(load), "it is truncated"),
    "load garbled": (garbled(load), "changed after it was written"),
    "load is huge": (huge(load), "cannot be read (it is too large"),
    "load is a pipe": (piped(load), "cannot be read (this is a pipe"),
    "samples missing": (removed(samples), "it is missing"),
    "samples truncated": (truncated(samples), "it is truncated"),
    "samples garbled": (garbled(samples), "changed after it was written"),
    "samples edited": (
        replaced(samples, '"interval": 0.2', '"interval": 1'),
        "it was changed after it was written (it is shorter than it was)",
    ),
    "samples without their last line": (
        without_its_last_line(samples),
        "it was changed after it was written (it is shorter than it was)",
    ),
    "samples are endless": (endless(samples), "cannot be read (this is a device"),
    "stay missing": (removed(stay), "it is missing"),
    "stay truncated": (truncated(stay), "it is truncated"),
    "stay garbled": (garbled(stay), "not what such a file holds"),
}
"""What is done to a file of one run → what must be said of it."""
ONE_OF_EACH = (
    "record missing",
    "record garbled",
    "load truncated",
    "samples edited",
    "samples are endless",
    "stay missing",
)
"""Of these, one of each kind of file and of each way in which it cannot be used."""


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A result as it was written."""
    return carried_out(STUDY, tmp_path_factory.mktemp("whole"))


@pytest.fixture(scope="module")
def later(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Another result of the same study."""
    return carried_out(STUDY, tmp_path_factory.mktemp("later"))


def carried_out(text: str, place: Path) -> Path:
    """Measure the text of a study; returns its result."""
    (place / "study.yaml").write_text(text)
    shown = dunnage("run", place / "study.yaml", "--results", place / "results")
    assert shown.code == 0, shown.err
    return open_result(place / "results").layout.root


@pytest.fixture
def spot(whole: Path, tmp_path: Path) -> Spot:
    """A copy of the result, to be damaged."""
    root = tmp_path / whole.name
    shutil.copytree(whole, root)
    return Spot(root, sorted(path.name for path in (root / "runs").iterdir())[3])


def told(shown: Shown, *codes: ExitCode) -> str:
    """What was said, of a command that ended as it may."""
    said = shown.out + shown.err
    assert "Traceback" not in said, said
    assert "please report it" not in said
    assert shown.harmless, said
    assert shown.code in codes, (shown.code, said)
    return said


def test_a_whole_result_is_verified(whole: Path) -> None:
    said = told(dunnage("verify", whole), ExitCode.OK)
    assert "none damaged" in said
    document = json.loads(dunnage("verify", whole, "--format", "json").out)
    assert document["files"] > 3 * RUNS
    assert (document["unlisted"], document["damages"]) == (0, [])


@pytest.mark.parametrize("name", OF_A_RUN)
def test_damage_spoils_its_run_only_and_is_named(name: str, spot: Spot) -> None:
    change, meaning = OF_A_RUN[name]
    file = str(change(spot).relative_to(spot.root))

    said = told(dunnage("verify", spot.root), ExitCode.DAMAGED)
    assert f"{file}: " in said
    assert meaning in said
    assert "1 run cannot be used" in said

    shown = dunnage("report", spot.root, "--format", "json")
    told(shown, ExitCode.UNTRUSTWORTHY)
    analysis = json.loads(shown.out)["analysis"]
    assert (analysis["valid"], analysis["unknown"], analysis["missing"]) == (RUNS - 1, 1, 0)
    (run,) = (run for run in analysis["runs"] if run["status"] != "valid")
    assert run["run"] == spot.run
    assert [damage["file"] for damage in analysis["damages"]] == [file]

    status = json.loads(dunnage("status", spot.root, "--format", "json").out)
    gone = not spot.record.exists()
    assert (status["valid"], status["unknown"]) == (RUNS - 1, 0 if gone else 1)
    assert status["missing"] == [spot.run] * gone
    assert status["damaged"] == analysis["damages"]


@pytest.mark.parametrize("name", ONE_OF_EACH)
def test_every_verb_tells_of_damage_in_its_words(name: str, spot: Spot, later: Path) -> None:
    file = str(OF_A_RUN[name][0](spot).relative_to(spot.root))
    gone = not spot.record.exists()

    said = told(dunnage("report", spot.root), ExitCode.UNTRUSTWORTHY)
    assert "1 file of this result is damaged, so 1 run cannot be used" in said
    assert file.rpartition("/")[2] in (spot.root / "report" / "index.html").read_text()

    said = told(dunnage("status", spot.root), ExitCode.OK)
    assert "so 1 run cannot be used" in said
    onward = f"run --resume {spot.root}" if gone else f"verify {spot.root}"
    assert f"next: dunnage {onward}\n" in said
    out = spot.root.parent / "out"
    said = told(dunnage("export", spot.root, "--to", out), ExitCode.UNTRUSTWORTHY)
    assert "so 1 run cannot be used" in said
    assert f"only {RUNS - 1} of {RUNS} runs are valid; " in said
    shown = dunnage("compare", later, spot.root, "--anyway")
    said = told(shown, ExitCode.OK, ExitCode.UNTRUSTWORTHY, ExitCode.INCOMPARABLE)
    assert f"{spot.root}: 1 file of this result is damaged" in said


def test_status_and_report_agree_when_all_stays_are_gone(spot: Spot) -> None:
    shutil.rmtree(spot.root / "stays")
    said = told(dunnage("status", spot.root), ExitCode.OK)
    assert f"so {RUNS} runs cannot be used" in " ".join(said.split())
    assert f"next: dunnage verify {spot.root}\n" in said
    status = json.loads(dunnage("status", spot.root, "--format", "json").out)
    analysis = json.loads(dunnage("report", spot.root, "--format", "json").out)["analysis"]
    for counted in ("valid", "invalid", "unknown"):
        assert status[counted] == analysis[counted]
    assert status["unknown"] == RUNS


def test_status_counts_runs_as_the_report_does_where_parity_found_something(spot: Spot) -> None:
    """A stay that ran something else spoils its runs, whatever their own gates say."""
    without_checksums(spot)
    stay = json.loads(spot.stay.read_text())
    stay["facts"]["version"] = "another"
    spot.stay.write_text(json.dumps(stay))
    status = json.loads(dunnage("status", spot.root, "--format", "json").out)
    analysis = json.loads(dunnage("report", spot.root, "--format", "json").out)["analysis"]
    assert status["invalid"] == analysis["invalid"] > 0
    assert "parity: " in told(dunnage("status", spot.root), ExitCode.OK)


@pytest.mark.parametrize("older", [False, True], ids=["of today", "older"])
def test_status_needs_no_study(older: bool, spot: Spot) -> None:
    if older:
        without_checksums(spot)
    study(spot).unlink()
    said = told(dunnage("status", spot.root), ExitCode.OK)
    assert f"{RUNS} of {RUNS} runs done" in said
    assert f"next: dunnage verify {spot.root}\n" in said


@pytest.mark.parametrize("name", OF_A_RUN)
def test_a_damaged_result_is_resumed_without_losing_what_is_whole(name: str, spot: Spot) -> None:
    change, _ = OF_A_RUN[name]
    change(spot)
    said = told(dunnage("run", "--resume", spot.root), ExitCode.OK, ExitCode.UNTRUSTWORTHY)
    if name != "record missing":
        assert "is damaged, so 1 run cannot be used" in said
        assert f"rm -r {spot.record.parent} && dunnage run --resume {spot.root}" in said
    records = open_result(spot.root).records
    assert len(records) >= RUNS - 1
    assert {record.run for record in records} | {spot.run} == {
        path.name for path in (spot.root / "runs").iterdir()
    }


def journal(spot: Spot) -> Path:
    return ResultLayout(spot.root).journal


def environment(spot: Spot) -> Path:
    return ResultLayout(spot.root).environment


def plan(spot: Spot) -> Path:
    return ResultLayout(spot.root).plan


def study(spot: Spot) -> Path:
    return ResultLayout(spot.root).study


def with_garbage(spot: Spot) -> Path:
    with journal(spot).open("ab") as file:
        file.write(b"\x00\x01garbage\n[1, 2]\n")
    return journal(spot)


OF_THE_WHOLE: Mapping[str, tuple[Change, str]] = {
    "journal missing": (removed(journal), "journal.jsonl: it is missing"),
    "journal is huge": (huge(journal), "journal.jsonl: it cannot be read (it is too large"),
    "journal with garbage": (with_garbage, "journal.jsonl: its content is not what such"),
    "journal garbled": (garbled(journal), "journal.jsonl: its content is not what such"),
    "environment changed": (
        replaced(environment, "dunnage", "another"),
        "environment.json: it was changed",
    ),
    "plan changed": (replaced(plan, '"seed"', ' "seed"'), "plan.json: it was changed"),
    "study changed": (replaced(study, "blocks: 3", "blocks: 4"), "study.yaml: it was changed"),
    "environment missing": (removed(environment), "environment.json: it is missing"),
    "environment garbled": (garbled(environment), "environment.json: its content is not what such"),
}


@pytest.mark.parametrize("name", OF_THE_WHOLE)
def test_damage_of_the_whole_is_said_and_costs_no_run(name: str, spot: Spot) -> None:
    change, meaning = OF_THE_WHOLE[name]
    change(spot)
    said = told(dunnage("verify", spot.root), ExitCode.DAMAGED)
    assert meaning in said
    shown = dunnage("report", spot.root, "--format", "json")
    told(shown, ExitCode.UNTRUSTWORTHY)
    answer = json.loads(shown.out)
    assert answer["analysis"]["valid"] == RUNS
    assert meaning in answer["damage"]
    said = told(dunnage("report", spot.root), ExitCode.UNTRUSTWORTHY)
    assert "1 file of this result is damaged;" in said
    assert meaning in " ".join(said.split())
    assert "Advice" not in said
    assert meaning in (spot.root / "report" / "index.html").read_text()
    assert meaning in told(dunnage("status", spot.root), ExitCode.OK)
    document = json.loads(dunnage("status", spot.root, "--format", "json").out)
    file = meaning.partition(":")[0]
    assert [found["file"] for found in document["damaged"]] == [file]
    out = spot.root.parent / "out"
    said = told(dunnage("export", spot.root, "--to", out), ExitCode.UNTRUSTWORTHY, ExitCode.FAILED)
    assert f"{file}: " in said  # a journal that cannot be read cannot be exported either


@pytest.mark.parametrize("name", ["study changed", "plan changed", "environment changed"])
def test_what_was_perhaps_not_asked_is_said_before_any_answer(name: str, spot: Spot) -> None:
    change, _ = OF_THE_WHOLE[name]
    file = change(spot).name
    first, question, _ = dunnage("report", spot.root).out.partition("Q1")
    assert question
    assert f"{file}: it was changed after it was written, so " in " ".join(first.split())


DECIDING = attempts.changed(
    ("hosts: {db: 3,", "hosts: {db: 1,"), ("topology: sharded, members: 3", SINGLE)
)


@pytest.fixture(scope="module")
def decided(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A result as it was written, whose question has a verdict."""
    return carried_out(DECIDING, tmp_path_factory.mktemp("decided"))


@pytest.fixture(scope="module")
def decided_later(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Another result of the same study."""
    return carried_out(DECIDING, tmp_path_factory.mktemp("decided-later"))


UNDECIDED: Mapping[str, Change] = {
    "study changed": replaced(study, "tolerance: 3%", "tolerance: 30%"),
    "plan changed": OF_THE_WHOLE["plan changed"][0],
    "journal garbled": OF_THE_WHOLE["journal garbled"][0],
    "journal missing": OF_THE_WHOLE["journal missing"][0],
}


def grounds(shown: Shown) -> list[tuple[str, str]]:
    """Verdict and ground of everything that an answer compares."""
    analysis = json.loads(shown.out)["analysis"]
    asked = (found for answer in analysis["answers"] for found in answer["comparisons"])
    every = [*asked, *analysis["comparisons"], *analysis["twin"]]
    assert all(found["difference"]["low"] is not None for found in every)
    return [(found["verdict"], found["ground"]) for found in every]


@pytest.mark.parametrize("name", UNDECIDED)
def test_no_verdict_is_given_by_a_file_that_was_changed(
    name: str, decided: Path, decided_later: Path, tmp_path: Path
) -> None:
    report = dunnage("report", decided, "--format", "json")
    claimed = {verdict for verdict, _ in grounds(report)} - {"inconclusive"}
    assert claimed
    root = tmp_path / decided.name
    shutil.copytree(decided, root)
    UNDECIDED[name](Spot(root, ""))

    found = grounds(dunnage("report", root, "--format", "json"))
    assert set(found) == {("inconclusive", "damaged")}
    for options in ((), ("--details",)):
        said = " ".join(told(dunnage("report", root, *options), ExitCode.UNTRUSTWORTHY).split())
        assert "is not claimed: a file that verdicts come from" in said
        assert not any(f" {verdict} " in said for verdict in claimed)
    page = (root / "report" / "index.html").read_text()
    assert not any(f'class="verdict {verdict}"' in page for verdict in claimed)
    exported = dunnage("export", root, "--to", tmp_path / "out", "--as", "csv,latex")
    told(exported, ExitCode.UNTRUSTWORTHY)
    for place in (tmp_path / "out" / "csv", root / "report"):
        rows = (place / "answers.csv").read_text()
        assert "inconclusive" in rows
        assert not any(f",{verdict}," in rows for verdict in claimed)
    for pair in ((decided_later, root), (root, decided_later)):
        shown = dunnage("compare", *pair, "--anyway", "--format", "json")
        told(shown, ExitCode.UNTRUSTWORTHY)
        changes = json.loads(shown.out)["changes"]
        assert {each["ground"] for each in changes if each["gate"]} == {"damaged"}


@pytest.mark.parametrize("change", [removed(record), garbled(samples)])
def test_a_damaged_run_is_no_success_however_many_are_left(
    change: Change, decided: Path, tmp_path: Path
) -> None:
    """Nine in ten runs and more are valid, but nobody chose that one is lost."""
    root = tmp_path / decided.name
    shutil.copytree(decided, root)
    change(Spot(root, sorted(path.name for path in (root / "runs").iterdir())[3]))
    shown = dunnage("report", root, "--format", "json")
    told(shown, ExitCode.UNTRUSTWORTHY)
    analysis = json.loads(shown.out)["analysis"]
    assert 0.9 * analysis["planned"] <= analysis["valid"] < analysis["planned"]
    assert "measure the runs again" in told(dunnage("report", root), ExitCode.UNTRUSTWORTHY)


def test_a_damage_that_touches_no_verdict_leaves_them(decided: Path, tmp_path: Path) -> None:
    root = tmp_path / decided.name
    shutil.copytree(decided, root)
    OF_THE_WHOLE["environment changed"][0](Spot(root, ""))
    report = dunnage("report", decided, "--format", "json")
    assert grounds(dunnage("report", root, "--format", "json")) == grounds(report)


NOT_RESUMED: Mapping[str, Change] = {
    "study changed": replaced(study, "warmup: 1s", "warmup: 2s"),
    "connections changed": replaced(study, "connections: 16", "connections: 8"),
    "study missing": removed(study),
    "plan changed": replaced(plan, '"seed"', ' "seed"'),
    "environment missing": removed(environment),
    "environment changed": replaced(environment, "dunnage", "another"),
    "journal garbled": garbled(journal),
    "journal emptied": emptied(journal),
}


@pytest.mark.parametrize("more", [(), ("--blocks", "+1")], ids=["as planned", "more blocks"])
@pytest.mark.parametrize("name", NOT_RESUMED)
def test_what_was_changed_is_never_mixed_with_what_was_measured(
    name: str, more: Sequence[str], spot: Spot
) -> None:
    spot.record.unlink()
    file = NOT_RESUMED[name](spot)
    before = {path: path.stat().st_mtime_ns for path in spot.root.rglob("*")}
    said = told(dunnage("run", "--resume", spot.root, *more), ExitCode.FAILED)
    assert f"{file}: " in said
    assert "so this result cannot be resumed" in said
    assert re.search(r"try: (put back `.*` as it was, or start a new result: )?dunnage ", said)
    assert {path: path.stat().st_mtime_ns for path in spot.root.rglob("*")} == before


def test_a_capacity_that_was_changed_is_not_taken(tmp_path: Path) -> None:
    text = attempts.changed(("rate: [2000]", "rate: [60%]"), ("blocks: 6", "blocks: 1"))
    (tmp_path / "study.yaml").write_text(text)
    words = ("run", tmp_path / "study.yaml", "--results", tmp_path / "results")
    told(dunnage(*words), ExitCode.OK, ExitCode.UNTRUSTWORTHY)
    root = open_result(tmp_path / "results").layout.root
    path = ResultLayout(root).calibration
    path.write_text(path.read_text().replace("{", "{ ", 1))
    said = told(dunnage(*words, "--rates-of", root), ExitCode.USAGE)
    assert "its capacity cannot be taken: calibration.json: it was changed" in said


def closed(spot: Spot, patch: pytest.MonkeyPatch, *paths: Path) -> None:
    """The system refuses these files. Root may read everything, so the refusal is played."""

    def read(path: Path, most: int | None = None) -> bytes:
        if any(path.is_relative_to(each) for each in paths):
            raise PermissionError(13, "Permission denied", str(path))
        return regular_bytes(path, most)

    for module in ("parse", "whole"):
        patch.setattr(f"dunnage.store.{module}.regular_bytes", read)
    patch.setattr(os, "geteuid", lambda: spot.root.stat().st_uid + 1)


@pytest.mark.parametrize("part", ["run", "record", "samples"])
def test_what_this_user_may_not_read_is_not_called_damaged(
    part: str, spot: Spot, monkeypatch: pytest.MonkeyPatch
) -> None:
    places = {"run": spot.record.parent, "record": spot.record, "samples": spot.samples}
    closed(spot, monkeypatch, places[part])
    said = told(dunnage("verify", spot.root), ExitCode.UNAVAILABLE)
    assert "none damaged" in said
    assert "this user may not read it" in said
    assert f"sudo -u {spot.root.owner()} dunnage" in said
    said += told(dunnage("report", spot.root), ExitCode.UNTRUSTWORTHY, ExitCode.OK)
    assert "cannot be read by this user, so 1 run cannot be used" in said
    assert "rm -r" not in said
    assert "--blocks" not in said


def test_whoever_closed_a_file_of_their_own_is_told_how_to_open_it(
    spot: Spot, monkeypatch: pytest.MonkeyPatch
) -> None:
    closed(spot, monkeypatch, spot.record)
    monkeypatch.setattr(os, "geteuid", lambda: spot.root.stat().st_uid)
    said = told(dunnage("verify", spot.root), ExitCode.UNAVAILABLE)
    assert f"chmod u+rX {spot.record} && dunnage verify {spot.root}" in said


@pytest.mark.parametrize("file", [plan, study], ids=["plan", "study"])
def test_a_result_that_is_closed_to_this_user_names_its_owner(
    file: Callable[[Spot], Path], spot: Spot, monkeypatch: pytest.MonkeyPatch
) -> None:
    closed(spot, monkeypatch, file(spot))
    for verb in (("verify",), ("report",), ("run", "--resume")):
        said = told(dunnage(*verb, spot.root), ExitCode.UNAVAILABLE, ExitCode.FAILED)
        assert f"sudo -u {spot.root.owner()} dunnage " in said
        assert "rm -r" not in said


@pytest.mark.parametrize("name", ["plan truncated", "plan missing"])
def test_verify_tells_a_program_what_cannot_be_opened(name: str, spot: Spot) -> None:
    change, meaning = FATAL[name]
    change(spot)
    shown = dunnage("verify", spot.root, "--format", "json")
    told(shown, ExitCode.DAMAGED)
    error = json.loads(shown.out)["error"]
    assert error["exit_code"] == ExitCode.DAMAGED
    assert meaning.endswith(error["what"])
    assert error["hint"]


def test_lost_runs_need_one_command_that_works(spot: Spot) -> None:
    shutil.rmtree(spot.root / "runs")
    (spot.root / "runs").mkdir()
    said = told(dunnage("verify", spot.root), ExitCode.DAMAGED)
    assert "rm -r" not in said
    assert said.count(f"dunnage run --resume {spot.root}") == 1
    told(dunnage("run", "--resume", spot.root), ExitCode.OK)
    told(dunnage("verify", spot.root), ExitCode.OK)


@pytest.mark.parametrize("gone", [("runs",), ("runs", "stays")])
def test_directories_that_somebody_removed_are_made_again(gone: Sequence[str], spot: Spot) -> None:
    for name in gone:
        shutil.rmtree(spot.root / name)
    said = told(dunnage("verify", spot.root), ExitCode.DAMAGED)
    assert f"measure what is lost again: dunnage run --resume {spot.root}\n" in said
    told(dunnage("run", "--resume", spot.root), ExitCode.OK)
    told(dunnage("verify", spot.root), ExitCode.OK)


@pytest.mark.parametrize("what", ["a run", "all runs"])
def test_what_is_no_directory_of_a_run_is_named_and_removed(what: str, spot: Spot) -> None:
    place = spot.record.parent if what == "a run" else spot.root / "runs"
    shutil.rmtree(place)
    place.write_text("hi\n")
    said = told(dunnage("verify", spot.root), ExitCode.DAMAGED)
    name = place.relative_to(spot.root)
    assert f"{name}: it cannot be read (this is no directory)\n" in said
    assert "record.json" not in said
    removing = f"rm -r {place}"
    assert f"lost again: {removing} && dunnage run --resume {spot.root}\n" in said
    said = told(dunnage("status", spot.root), ExitCode.OK)
    assert f"next: dunnage verify {spot.root}\n" in said
    subprocess.run(removing.split(), check=True)
    told(dunnage("run", "--resume", spot.root), ExitCode.OK)
    assert "none damaged" in told(dunnage("verify", spot.root), ExitCode.OK)


def test_runs_of_damaged_files_are_measured_again_before_blocks_are_added(spot: Spot) -> None:
    """Adding blocks is a look; measuring the same run again is none."""
    truncated(samples)(spot)
    for verb in ("verify", "report"):
        shown = dunnage(verb, spot.root)
        said = told(shown, ExitCode.DAMAGED, ExitCode.UNTRUSTWORTHY, ExitCode.OK)
        assert "--blocks" not in said
        assert f"rm -r {spot.record.parent} && dunnage run --resume {spot.root}" in said
    shutil.rmtree(spot.record.parent)
    told(dunnage("run", "--resume", spot.root), ExitCode.OK)
    told(dunnage("verify", spot.root), ExitCode.OK)


def test_hints_lead_to_no_circle(spot: Spot) -> None:
    text = study(spot).read_text()
    study(spot).unlink()
    said = told(dunnage("report", spot.root), ExitCode.FAILED)
    anew = "or start a new result: dunnage run STUDY  # STUDY is the study file\n"
    assert f"try: put back `study.yaml` from a copy, {anew}" in said
    said = told(dunnage("verify", spot.root), ExitCode.DAMAGED)
    assert f"put back `study.yaml` from a copy, {anew}" in said
    said = told(dunnage("run", "--resume", spot.root), ExitCode.FAILED)
    assert f"try: put back `study.yaml` as it was, {anew}" in said
    study(spot).write_text(text.replace("blocks: 3", "blocks: no"))
    assert f"try: dunnage verify {spot.root}" in told(dunnage("report", spot.root), ExitCode.USAGE)
    said = told(dunnage("verify", spot.root), ExitCode.DAMAGED)
    assert f"put back `study.yaml` from a copy, {anew}" in said
    assert f"dunnage run {study(spot)}" not in said
    study(spot).write_text(text)
    told(dunnage("verify", spot.root), ExitCode.OK)


def test_a_result_that_is_being_written_is_not_to_be_resumed(spot: Spot) -> None:
    spot.record.unlink()
    with ResultWriter(spot.root).held():
        said = told(dunnage("status", spot.root), ExitCode.OK)
        document = json.loads(dunnage("status", spot.root, "--format", "json").out)
        assert document["running"]
        assert "a study is writing this result" in said
        assert "--resume" not in said
    assert not json.loads(dunnage("status", spot.root, "--format", "json").out)["running"]


FATAL: Mapping[str, tuple[Change, str]] = {
    "plan missing": (removed(plan), "plan.json: is missing: this result cannot be read"),
    "plan truncated": (truncated(plan), "plan.json: is truncated"),
    "plan garbled": (garbled(plan), "plan.json: is not JSON"),
    "plan is huge": (huge(plan), "plan.json: cannot read: it is too large"),
    "plan is a pipe": (piped(plan), "plan.json: cannot read: this is a pipe"),
    "study missing": (removed(study), "study.yaml: is missing"),
    "study is endless": (endless(study), "study.yaml: cannot read: this is a device"),
}
"""What no result can be read without."""


@pytest.mark.parametrize("name", FATAL)
def test_what_no_result_can_be_read_without_is_named(name: str, spot: Spot) -> None:
    change, meaning = FATAL[name]
    file = change(spot).name
    said = told(dunnage("report", spot.root), ExitCode.FAILED)
    assert meaning in said
    needed = f"try: put back `{file}` from a copy, or start a new result: dunnage run "
    assert (needed in said) == (file != "environment.json")


def test_a_plan_of_a_newer_dunnage_need_not_be_put_back(spot: Spot) -> None:
    replaced(plan, '"version": ', '"version": 9')(spot)
    said = told(dunnage("report", spot.root), ExitCode.FAILED)
    assert "was written by a newer Dunnage" in said
    assert f"try: dunnage verify {spot.root}\n" in said
    said = told(dunnage("verify", spot.root), ExitCode.DAMAGED)
    assert f"try: dunnage run {study(spot)}\n" in said


def test_records_that_the_study_did_not_write_do_not_count(spot: Spot, whole: Path) -> None:
    """The journal lists what was written; a record that was put beside it has no place there."""
    lines = journal(spot).read_text().splitlines()
    kept = [line for line in lines if f"runs/{spot.run}/" not in line]
    assert len(kept) < len(lines)
    journal(spot).write_text("\n".join(kept) + "\n")
    said = told(dunnage("verify", spot.root), ExitCode.DAMAGED)
    assert f"runs/{spot.run}/record.json: it was not written by this study" in said


def without_checksums(spot: Spot) -> None:
    """Make it a result of an older Dunnage."""
    events = map(json.loads, journal(spot).read_text().splitlines())
    older = (json.dumps({**event, "version": 1}) for event in events if event["event"] != "kept")
    journal(spot).write_text("".join(f"{line}\n" for line in older))


def test_a_result_from_before_checksums_is_read_and_says_so(spot: Spot) -> None:
    without_checksums(spot)
    said = told(dunnage("verify", spot.root), ExitCode.OK)
    assert "no checksum, because an older Dunnage wrote them" in said
    garbled(samples)(spot)
    assert "not what such a file holds" in told(dunnage("verify", spot.root), ExitCode.DAMAGED)
    told(dunnage("report", spot.root), ExitCode.UNTRUSTWORTHY, ExitCode.OK)


def test_a_report_is_never_written_through_a_link(spot: Spot, tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.write_text("untouched")
    page = spot.root / "report" / "index.html"
    page.unlink()
    page.symlink_to(victim)
    told(dunnage("report", spot.root), ExitCode.OK)
    assert victim.read_text() == "untouched"
    assert not page.is_symlink()

    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    shutil.rmtree(spot.root / "report")
    (spot.root / "report").symlink_to(elsewhere)
    said = told(dunnage("report", spot.root), ExitCode.FAILED)
    assert "this is a link" in said
    assert list(elsewhere.iterdir()) == []


def test_a_reader_who_may_not_write_gets_the_answer(
    spot: Spot, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Root may write everywhere, so the system's refusal is played."""

    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "replace", refuse)
    said = told(dunnage("report", spot.root), ExitCode.OK)
    assert "the report was not stored" in said
    assert "Permission denied" in said
    assert "9 of 9" in said


@pytest.mark.parametrize("what", ["stays", "runs"])
def test_facts_that_are_gone_are_missed_without_the_journal(what: str, spot: Spot) -> None:
    """What is there was written after them."""
    emptied(journal)(spot)
    environment(spot).unlink()
    other = "runs" if what == "stays" else "stays"
    shutil.rmtree(spot.root / other)
    (spot.root / other).mkdir()
    said = told(dunnage("verify", spot.root), ExitCode.DAMAGED)
    assert "environment.json: it is missing" in said
    assert "put back `journal.jsonl`, `environment.json` from a copy" in said


def test_looks_and_plans_that_are_gone_are_missed_without_the_journal(spot: Spot) -> None:
    for _ in range(2):
        told(dunnage("run", "--resume", spot.root, "--blocks", "+1"), ExitCode.OK)
    emptied(journal)(spot)
    (spot.root / "looks.jsonl").unlink()
    said = told(dunnage("verify", spot.root), ExitCode.DAMAGED)
    assert "looks.jsonl: it is missing" in said
    (spot.root / "plan-2.json").unlink()
    assert "plan-2.json" in told(dunnage("verify", spot.root), ExitCode.DAMAGED)


def test_a_capacity_that_is_gone_is_missed_without_the_journal(tmp_path: Path) -> None:
    text = attempts.changed(("rate: [2000]", "rate: [60%]"), ("blocks: 6", "blocks: 1"))
    (tmp_path / "study.yaml").write_text(text)
    words = ("run", tmp_path / "study.yaml", "--results", tmp_path / "results")
    told(dunnage(*words), ExitCode.OK, ExitCode.UNTRUSTWORTHY)
    layout = open_result(tmp_path / "results").layout
    layout.journal.write_bytes(b"")
    layout.calibration.unlink()
    said = told(dunnage("verify", layout.root), ExitCode.DAMAGED)
    assert "calibration.json: it is missing" in said
    shutil.rmtree(layout.runs)
    layout.runs.mkdir()
    assert "calibration.json" not in told(dunnage("verify", layout.root), ExitCode.DAMAGED)


def test_a_removed_plan_of_added_blocks_is_not_forgotten(spot: Spot) -> None:
    """Without it the look that it cost would come back."""
    told(dunnage("run", "--resume", spot.root, "--blocks", "+1"), ExitCode.OK)
    (spot.root / "plan-2.json").unlink()
    said = told(dunnage("report", spot.root), ExitCode.FAILED)
    assert "plan-2.json: is missing" in said


def test_looks_that_were_changed_are_noticed(spot: Spot) -> None:
    told(dunnage("run", "--resume", spot.root, "--blocks", "+1"), ExitCode.OK)
    looks = spot.root / "looks.jsonl"
    looks.write_text(looks.read_text().replace('"complete":3', '"complete":0'))
    assert "looks.jsonl: it was changed" in told(dunnage("verify", spot.root), ExitCode.DAMAGED)


@pytest.mark.parametrize(
    "entry", ['{"size": "9", "sha256": []}', "[]", '"text"', '{"size": null}', "{}"]
)
def test_odd_lines_of_the_journal_break_nothing(spot: Spot, entry: str) -> None:
    with journal(spot).open("a") as file:
        file.write(f'{{"version": 2, "event": "kept", "files": {{"plan.json": {entry}}}}}\n')
        file.write('{"version": 2, "event": "run finished", "run": []}\n')
        file.write('{"version": 2, "event": "blocks added", "plan": "many"}\n')
    assert "none damaged" in told(dunnage("verify", spot.root), ExitCode.OK)
    told(dunnage("report", spot.root), ExitCode.OK)


GARBLED = "its content is not what such a file holds"
ODD_FACTS: Mapping[str, str] = {
    "[]": GARBLED,
    "null": GARBLED,
    "5": GARBLED,
    "\x00": GARBLED,
    '{"kernel": {"a": 1}}': GARBLED,
    '{"kernel": 1e999}': GARBLED,
    '{"kernel": ': "it is truncated",
    "": "it is truncated",
    "{}": "it was changed after it was written",
    '{"kernel": 5, "version": 999}': "it was changed after it was written",
}
"""What stands in the place of the machine's facts → what must be said of it."""
ONE_PER_MEANING = {meaning: facts for facts, meaning in ODD_FACTS.items()}.values()
"""Those of which every verb is asked; of the others, those that tell of no run."""


@pytest.mark.parametrize("older", [False, True], ids=["of today", "older"])
@pytest.mark.parametrize("facts", ODD_FACTS)
def test_odd_facts_of_the_machine_are_said_alike_by_all_that_read_them(
    facts: str, older: bool, spot: Spot, later: Path
) -> None:
    environment(spot).write_text(facts)
    if older:
        without_checksums(spot)
    seen = not older or ODD_FACTS[facts] != ODD_FACTS["{}"]
    code = ExitCode.UNTRUSTWORTHY if seen else ExitCode.OK
    out = spot.root.parent / "out"
    every = (
        (("verify", spot.root), ExitCode.DAMAGED if seen else ExitCode.OK),
        (("status", spot.root), ExitCode.OK),
        (("report", spot.root), code),
        (("export", spot.root, "--to", out), code),
        (("compare", later, spot.root), ExitCode.INCOMPARABLE),
    )
    for words, expected in every if facts in ONE_PER_MEANING else every[:2]:
        said = " ".join(told(dunnage(*words), expected).split())
        assert (f"environment.json: {ODD_FACTS[facts]}" in said) is seen, words


@pytest.mark.parametrize("older", [False, True], ids=["of today", "older"])
@pytest.mark.parametrize("facts", ["[]", '{"kernel": '])
def test_a_study_does_not_go_on_under_facts_that_cannot_be_read(
    facts: str, older: bool, spot: Spot
) -> None:
    spot.record.unlink()
    environment(spot).write_text(facts)
    if older:
        without_checksums(spot)
    said = told(dunnage("run", "--resume", spot.root), ExitCode.FAILED)
    assert f"environment.json: {ODD_FACTS[facts]}, so this result cannot be resumed" in said
    anew = f"or start a new result: dunnage run {study(spot)}\n"
    assert f"try: put back `environment.json` as it was, {anew}" in said


def test_a_run_directory_that_is_a_link_is_never_emptied(spot: Spot, tmp_path: Path) -> None:
    treasure = tmp_path / "treasure"
    treasure.mkdir()
    (treasure / "letter").write_text("dear")
    shutil.rmtree(spot.record.parent)
    spot.record.parent.symlink_to(treasure)
    said = told(dunnage("run", "--resume", spot.root), ExitCode.FAILED)
    assert "this is a link" in said
    assert (treasure / "letter").read_text() == "dear"


def test_a_crash_before_the_first_facts_is_no_damage(spot: Spot) -> None:
    """The journal tells of a file first: the last one of all may not have been written."""
    lines = journal(spot).read_text().splitlines()
    first = next(n for n, line in enumerate(lines) if "environment.json" in line)
    journal(spot).write_text("\n".join(lines[: first + 1]) + "\n")
    environment(spot).unlink()
    for directory in ("runs", "stays"):
        shutil.rmtree(spot.root / directory)
        (spot.root / directory).mkdir()
    assert "none damaged" in told(dunnage("verify", spot.root), ExitCode.OK)


def test_a_result_without_its_journal_is_reported_and_not_resumed(spot: Spot) -> None:
    """A new journal would call everything that is there foreign."""
    journal(spot).unlink()
    said = told(dunnage("verify", spot.root), ExitCode.DAMAGED)
    assert "because the journal cannot be read" in said
    said = told(dunnage("run", "--resume", spot.root, "--blocks", "+1"), ExitCode.FAILED)
    assert "the journal is missing, so this result cannot be resumed" in said
    assert not journal(spot).exists()


def test_lost_looks_are_not_replaced_by_new_ones(spot: Spot) -> None:
    told(dunnage("run", "--resume", spot.root, "--blocks", "+1"), ExitCode.OK)
    (spot.root / "looks.jsonl").unlink()
    said = told(dunnage("run", "--resume", spot.root, "--blocks", "+1"), ExitCode.FAILED)
    assert "lacks the look" in said
    assert not (spot.root / "plan-3.json").exists()
    told(dunnage("verify", spot.root), ExitCode.DAMAGED)


def test_an_older_record_beside_newer_files_is_noticed(spot: Spot, tmp_path: Path) -> None:
    old = shutil.copy(spot.record, tmp_path / "old.json")
    shutil.rmtree(spot.record.parent)
    told(dunnage("run", "--resume", spot.root), ExitCode.OK)
    assert spot.record.read_bytes() != Path(old).read_bytes()
    shutil.copy(old, spot.record)
    assert "it was changed" in told(dunnage("verify", spot.root), ExitCode.DAMAGED)


def test_lines_of_the_journal_that_were_cut_off_are_noticed(spot: Spot) -> None:
    lines = journal(spot).read_text().splitlines()
    cut = [line[:40] if '"run finished"' in line else line for line in lines]
    journal(spot).write_text("\n".join(cut) + "\n")
    told(dunnage("verify", spot.root), ExitCode.DAMAGED)
    shutil.rmtree(spot.record.parent)
    said = told(dunnage("verify", spot.root), ExitCode.DAMAGED)
    assert f"runs/{spot.run}/record.json: it is missing" in said


@pytest.mark.parametrize(
    ("was", "becomes"), [(b"e", b"\xe9"), (VERSION.encode(), b'"version": 1e999')]
)
def test_a_journal_that_was_rewritten_is_no_older_one(
    was: bytes, becomes: bytes, spot: Spot
) -> None:
    """Its lines are JSON, and no events of any version."""
    content = journal(spot).read_bytes()
    assert was in content
    journal(spot).write_bytes(content.replace(was, becomes))
    said = told(dunnage("verify", spot.root), ExitCode.DAMAGED)
    assert "journal.jsonl: its content is not what such a file holds" in said
    assert "older Dunnage" not in said


@pytest.mark.parametrize("becomes", ["1e999", "true", "0"])
def test_a_last_line_of_the_journal_that_is_whole_was_not_cut_off(becomes: str, spot: Spot) -> None:
    *lines, last = journal(spot).read_text().splitlines()
    odd = last.replace(VERSION, f'"version": {becomes}')
    assert odd != last
    journal(spot).write_text("\n".join([*lines, odd]) + "\n")
    said = told(dunnage("verify", spot.root), ExitCode.DAMAGED)
    assert "journal.jsonl: its content is not what such a file holds (1 line)" in said


def test_nothing_is_exported_into_the_raw_parts_of_a_result(spot: Spot) -> None:
    for place in (spot.root, spot.root / "runs", spot.record.parent):
        said = told(dunnage("export", spot.root, "--to", place), ExitCode.USAGE)
        assert "this is inside the result" in said


def test_no_study_is_carried_out_inside_a_result(spot: Spot, tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to(spot.root / "stays")
    before = sorted(spot.root.rglob("*"))
    for place in (spot.root, spot.root / "stays", link, spot.root / "new"):
        said = told(dunnage("run", study(spot), "--results", place), ExitCode.USAGE)
        assert "this is inside the result" in said
        assert f"--results {shlex.quote(str(spot.root.parent))}" in said
    assert sorted(spot.root.rglob("*")) == before


def test_what_verify_advises_removes_a_link_in_the_place_of_a_run(spot: Spot) -> None:
    shutil.rmtree(spot.record.parent)
    spot.record.parent.symlink_to(spot.run)  # to itself
    said = told(dunnage("verify", spot.root), ExitCode.DAMAGED)
    removing = f"rm -r {spot.record.parent}"
    assert f"{removing} && dunnage run --resume {spot.root}" in said
    subprocess.run(removing.split(), check=True)
    told(dunnage("run", "--resume", spot.root), ExitCode.OK)
    assert "none damaged" in told(dunnage("verify", spot.root), ExitCode.OK)


@pytest.mark.parametrize("name", ["plan truncated", "plan garbled"])
def test_verify_calls_what_cannot_be_read_damaged(name: str, spot: Spot) -> None:
    change, _ = FATAL[name]
    change(spot)
    said = told(dunnage("verify", spot.root), ExitCode.DAMAGED)
    assert f"dunnage run {spot.root}/study.yaml" in said


def test_what_no_new_study_may_ask_for_is_read_in_an_older_result(spot: Spot) -> None:
    without_checksums(spot)
    replaced(study, "network: late}", "network: late, limits: {memory: 1MiB}}")(spot)
    replaced(study, "blocks: 3", "blocks: 3\npatience: -1s\ndeadline: 9000h")(spot)
    document = json.loads(plan(spot).read_text())
    for deployment in document["deployments"]:
        if deployment["name"] == "late":
            deployment["limits"]["memory"] = 2**20
    plan(spot).write_text(json.dumps(document))
    for words in (("report", spot.root), ("run", "--resume", spot.root), ("verify", spot.root)):
        told(dunnage(*words), ExitCode.OK)
    said = told(dunnage("plan", study(spot)), ExitCode.USAGE)
    for bound in ("at least 6MiB, not `1MiB`", "at least 0s, not `-1s`", "more than a year"):
        assert bound in said


class Series(NamedTuple):
    """Two results of one study."""

    place: Path
    older: Path
    newest: Path


@pytest.fixture
def series(whole: Path, tmp_path: Path) -> Series:
    place = tmp_path / "results" / "whole"
    older, newest = place / whole.name, place / "9999-01-01T00-00-00Z-ffffff"
    for root in (older, newest):
        shutil.copytree(whole, root)
    return Series(place, older, newest)


def without_its_journal(root: Path) -> None:
    ResultLayout(root).journal.unlink()


def without_its_study(root: Path) -> None:
    ResultLayout(root).study.unlink()


def with_a_dead_link(root: Path) -> None:
    ResultLayout(root).plan.symlink_to("nowhere")


ALSO = {
    "nothing else": lambda _: None,
    "its journal": without_its_journal,
    "its study": without_its_study,
    "a link": with_a_dead_link,
}


@pytest.mark.parametrize("also", ALSO)
@pytest.mark.parametrize("above", ["of the study", "of all studies"])
def test_a_newest_result_that_lost_its_plan_is_not_passed_over(
    also: str, above: str, series: Series, tmp_path: Path, whole: Path
) -> None:
    ResultLayout(series.newest).plan.unlink()
    ALSO[also](series.newest)
    place = series.place if above == "of the study" else series.place.parent
    lost = f"{series.newest}/plan.json: is missing: this result cannot be read"
    mine = "STUDY" if also == "its study" else str(ResultLayout(series.newest).study)
    try_ = f"try: put back `plan.json` from a copy, or start a new result: dunnage run {mine}"
    for words in (
        ("report", place),
        ("status", place),
        ("export", place, "--to", tmp_path / "out"),
        ("compare", whole, place),
        ("run", "--resume", place),
    ):
        said = told(dunnage(*words), ExitCode.FAILED)
        assert f"{lost}; the result before it is {series.older}" in said
        assert try_ in said
    for result in (place, series.newest):
        said = told(dunnage("verify", result), ExitCode.DAMAGED)
        assert lost in said
        assert try_ in said
    told(dunnage("report", series.older), ExitCode.OK)


@pytest.mark.parametrize("lines", [0, 1, 2])
def test_a_result_that_a_crash_prevented_is_no_result(lines: int, series: Series) -> None:
    """It ends before the plan, of which the journal tells first."""
    layout = ResultLayout(series.newest)
    layout.plan.unlink()
    for directory in (layout.runs, layout.stays):
        shutil.rmtree(directory)
        directory.mkdir()
    kept = layout.journal.read_text().splitlines()[:lines]
    layout.journal.write_text("".join(f"{line}\n" for line in kept))
    said = told(dunnage("status", series.place), ExitCode.OK)
    assert str(series.older) in said


def test_a_report_reads_the_journal_once(spot: Spot, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[Path] = []

    def counted(path: Path) -> str:
        read.append(path)
        return text_of(path)

    monkeypatch.setattr("dunnage.store.journal.text_of", counted)
    told(dunnage("report", spot.root), ExitCode.OK)
    assert read == [journal(spot)]


def test_a_result_that_is_complete_is_examined_once_when_it_is_resumed(
    spot: Spot, monkeypatch: pytest.MonkeyPatch
) -> None:
    examined: list[Result] = []

    def counted(result: Result, holds: Holds) -> Examined:
        examined.append(result)
        return examine(result, holds)

    monkeypatch.setattr("dunnage.opened.examine", counted)
    told(dunnage("run", "--resume", spot.root), ExitCode.OK)
    assert len(examined) == 1


def entered(spot: Spot, name: str, *, last: bool) -> None:
    """Have the journal list one more file."""
    *lines, end = journal(spot).read_text().splitlines()
    entry = {name: {"size": 1, "sha256": "0" * 64}}
    more = json.dumps({"version": 2, "time": 1.0, "event": "kept", "files": entry})
    ordered = (*lines, end, more) if last else (*lines, more, end)
    journal(spot).write_text("".join(f"{line}\n" for line in ordered))


@pytest.mark.parametrize("last", [False, True], ids=["in the middle", "at the end"])
@pytest.mark.parametrize(
    "name", ["runs/b99-nobody-A/record.json", "runs/{run}/more.log", "nobody.json", "a/file"]
)
def test_a_file_that_only_the_journal_knows_is_missed(name: str, last: bool, spot: Spot) -> None:
    entered(spot, name.format(run=spot.run), last=last)
    said = told(dunnage("verify", spot.root), ExitCode.DAMAGED)
    assert f"{name.format(run=spot.run)}: it is missing\n" in said
    told(dunnage("report", spot.root), ExitCode.UNTRUSTWORTHY)


@pytest.mark.parametrize(
    ("name", "missed"),
    [
        ("stays/b99-nobody/stay.json", "lines are missing, or not in their order"),
        ("plan-7.json", "plan-7.json: it is missing\n"),
    ],
)
def test_what_a_crash_may_have_prevented_is_missed_where_the_study_went_on(
    name: str, missed: str, spot: Spot
) -> None:
    entered(spot, name, last=False)
    said = told(dunnage("verify", spot.root), ExitCode.DAMAGED)
    assert missed in said


def test_a_plan_that_a_crash_prevented_is_not_missed(spot: Spot) -> None:
    entered(spot, "plan-7.json", last=True)
    assert "none damaged" in told(dunnage("verify", spot.root), ExitCode.OK)


@pytest.mark.parametrize("last", [False, True], ids=["in the middle", "at the end"])
@pytest.mark.parametrize("name", ["../../../../etc/passwd", "/etc/passwd", "", "runs//x", "a\nb"])
def test_a_name_in_the_journal_that_leads_out_is_damage(name: str, last: bool, spot: Spot) -> None:
    entered(spot, name, last=last)
    said = told(dunnage("verify", spot.root), ExitCode.DAMAGED)
    shown = name.replace("\n", "\ufffd")
    why = f"{GARBLED} (it names `{shown}`, and a result has no such file)"
    assert f"journal.jsonl: {why}\n" in said


LINES: Mapping[str, Callable[[Sequence[str]], Sequence[str]]] = {
    "kept ones only": lambda every: [each for each in every if '"event": "kept"' in each],
    "no run finished": lambda every: [each for each in every if '"run finished"' not in each],
    "backwards": lambda every: [*every[:3], *every[:2:-1]],
}


@pytest.mark.parametrize("name", LINES)
def test_lines_of_the_journal_that_are_missing_or_in_another_order_are_damage(
    name: str, spot: Spot
) -> None:
    lines = LINES[name](journal(spot).read_text().splitlines())
    journal(spot).write_text("".join(f"{line}\n" for line in lines))
    said = told(dunnage("verify", spot.root), ExitCode.DAMAGED)
    changed = "it was changed after it was written (lines are missing, or not in their order)"
    assert f"journal.jsonl: {changed}\n" in said
    assert changed in " ".join(told(dunnage("report", spot.root), ExitCode.UNTRUSTWORTHY).split())


@pytest.mark.parametrize("what", ["run", "stay"])
def test_what_was_copied_into_a_result_is_not_of_this_study(what: str, spot: Spot) -> None:
    own = (spot.record if what == "run" else spot.stay).parent
    copy = own.with_name(f"b99{own.name[3:]}")
    shutil.copytree(own, copy)
    said = told(dunnage("verify", spot.root), ExitCode.DAMAGED)
    file = (copy / ("record.json" if what == "run" else "stay.json")).relative_to(spot.root)
    assert f"{file}: it was not written by this study: the journal does not list it\n" in said
    assert f"to remove what this study did not write: rm -r {copy}\n" in said
    assert "from a copy" not in said
    assert "to measure" not in said
    shutil.rmtree(copy)
    assert "none damaged" in told(dunnage("verify", spot.root), ExitCode.OK)


def test_what_a_report_wrote_is_said_not_to_be_examined(spot: Spot) -> None:
    (spot.root / "analysis.json").write_text("")
    shutil.rmtree(spot.root / "report")
    (spot.root / "report").write_text("forged")
    said = told(dunnage("verify", spot.root), ExitCode.OK)
    again = f"to write them again: dunnage report {spot.root}\n"
    assert f"not examined: `analysis.json` and `report`; {again}" in said
    document = json.loads(dunnage("verify", spot.root, "--format", "json").out)
    assert document["not_examined"][:2] == ["analysis.json", "report"]
    (spot.root / "analysis.json").unlink()
    (spot.root / "report").unlink()
    assert again not in told(dunnage("verify", spot.root), ExitCode.OK)
    told(dunnage("report", spot.root), ExitCode.OK)
    assert again in told(dunnage("verify", spot.root), ExitCode.OK)


def test_of_many_damaged_files_some_are_named_where_nobody_asked_for_all(spot: Spot) -> None:
    lines = journal(spot).read_text().splitlines()
    journal(spot).write_text("".join(f"{line}\n" for line in lines if '"runs/' not in line))
    listed = told(dunnage("verify", spot.root), ExitCode.DAMAGED).count("not written by this study")
    said = told(dunnage("run", "--resume", spot.root), ExitCode.UNTRUSTWORTHY)
    assert said.count("it was not written by this study") == 5 < listed
    assert f"and {listed - 5} more files: `dunnage verify` lists them\n" in said


def test_a_copy_of_a_result_is_not_compared_with_it(spot: Spot, whole: Path) -> None:
    said = told(dunnage("compare", whole, spot.root), ExitCode.USAGE)
    assert "both are copies of one result, so there is nothing to compare" in said


@pytest.mark.parametrize("older", [False, True], ids=["of today", "older"])
def test_a_result_is_not_compared_with_its_own_continuation(
    older: bool, spot: Spot, whole: Path, later: Path
) -> None:
    """Its runs would count on both sides."""
    told(dunnage("run", "--resume", spot.root, "--blocks", "+1"), ExitCode.OK)
    shutil.rmtree(spot.record.parent)
    told(dunnage("run", "--resume", spot.root), ExitCode.OK)
    if older:
        without_checksums(spot)
    for pair in ((whole, spot.root), (spot.root, whole)):
        for options in ((), ("--anyway",)):
            said = told(dunnage("compare", *pair, *options), ExitCode.USAGE)
            assert f"both hold {RUNS - 1} runs of one result, so they are not independent" in said
    assert "independent" not in dunnage("compare", later, spot.root).err


def without_line(spot: Spot, event: str, which: int) -> str:
    """Remove one of the lines of an event from the journal; returns that line."""
    lines = journal(spot).read_text().splitlines(keepends=True)
    (index, line), *_ = [(i, line) for i, line in enumerate(lines) if f'"{event}"' in line][which:]
    journal(spot).write_text("".join((*lines[:index], *lines[index + 1 :])))
    return line


def added_twice(spot: Spot) -> None:
    for _ in range(2):
        told(dunnage("run", "--resume", spot.root, "--blocks", "+1"), ExitCode.OK)


@pytest.mark.parametrize("which", [0, 1], ids=["first", "last"])
def test_a_line_of_added_blocks_that_was_removed_is_missed(which: int, spot: Spot) -> None:
    added_twice(spot)
    assert "none damaged" in told(dunnage("verify", spot.root), ExitCode.OK)
    without_line(spot, "blocks added", which)
    said = told(dunnage("verify", spot.root), ExitCode.DAMAGED)
    assert "journal.jsonl: it was changed after it was written (lines are missing" in said


def test_a_crash_before_the_line_of_added_blocks_is_made_good(
    spot: Spot, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = ResultWriter.journal

    def killed(self: ResultWriter, event: str, **details: Any) -> None:
        if event == ADDED:
            raise KeyboardInterrupt
        said(self, event, **details)

    with monkeypatch.context() as patch:
        patch.setattr(ResultWriter, "journal", killed)
        told(dunnage("run", "--resume", spot.root, "--blocks", "+1"), ExitCode.INTERRUPTED)
    assert (spot.root / "plan-2.json").is_file()
    assert "blocks added" not in journal(spot).read_text()
    assert "none damaged" in told(dunnage("verify", spot.root), ExitCode.OK)
    told(dunnage("run", "--resume", spot.root), ExitCode.OK)
    assert journal(spot).read_text().count('"blocks added", "plan": 2, "blocks": 1}') == 1
    assert "none damaged" in told(dunnage("verify", spot.root), ExitCode.OK)


def test_an_older_dunnage_did_not_make_it_good(spot: Spot) -> None:
    told(dunnage("run", "--resume", spot.root, "--blocks", "+1"), ExitCode.OK)
    without_line(spot, "blocks added", 0)
    journal(spot).write_text(journal(spot).read_text().replace(VERSION, '"version": 2'))
    assert "none damaged" in told(dunnage("verify", spot.root), ExitCode.OK)


def test_logs_of_members_are_said_not_to_be_examined(spot: Spot) -> None:
    named = [str(path.relative_to(spot.root)) for path in spot.root.glob("stays/*/*.log")]
    logs = (spot.stay.with_name("member-1.log"), spot.stay.with_name("member-2.log"))
    for log in logs:
        log.write_text("started\n")
    named += [str(log.relative_to(spot.root)) for log in logs]
    said = told(dunnage("verify", spot.root), ExitCode.OK)
    assert f"not examined: {len(named)} logs of members, in `stays`\n" in said
    document = json.loads(dunnage("verify", spot.root, "--format", "json").out)
    assert document["not_examined"] == ["analysis.json", "report", *sorted(named)]
    for name in named:
        (spot.root / name).unlink()
    assert "logs of members" not in told(dunnage("verify", spot.root), ExitCode.OK)


def test_a_result_outside_the_directory_of_its_study_is_left_for_the_one_around_it(
    spot: Spot,
) -> None:
    """The directory above that is perhaps nobody's place for results."""
    said = told(dunnage("run", study(spot), "--results", spot.root / "stays"), ExitCode.USAGE)
    assert f"--results {shlex.quote(str(spot.root.parent))}\n" in said
    place = spot.root.parent / "results" / "whole"
    place.mkdir(parents=True)
    moved = spot.root.rename(place / spot.root.name)
    words = ("run", moved / "study.yaml", "--results", moved / "stays")
    said = told(dunnage(*words), ExitCode.USAGE)
    assert f"--results {shlex.quote(str(place.parent))}\n" in said
    plan(Spot(moved, "")).write_text("[]")
    said = told(dunnage(*words), ExitCode.USAGE)
    assert f"--results {shlex.quote(str(place))}\n" in said
