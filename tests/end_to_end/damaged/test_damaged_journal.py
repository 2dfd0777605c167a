"""Results whose journal was cut, rewritten or removed, or knows of files that are not there."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pytest
from damages import GARBLED, VERSION, Spot, environment, journal, told, without_line
from hostile import dunnage

from dunnage.errors import ExitCode
from dunnage.store.parse import text_of


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


def test_a_report_reads_the_journal_once(spot: Spot, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[Path] = []

    def counted(path: Path) -> str:
        read.append(path)
        return text_of(path)

    monkeypatch.setattr("dunnage.store.journal.text_of", counted)
    told(dunnage("report", spot.root), ExitCode.OK)
    assert read == [journal(spot)]


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
