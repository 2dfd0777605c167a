"""A study's result, and ways to damage it."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

import tried
from hostile import Shown, dunnage

from dunnage.errors import ExitCode
from dunnage.model.record_versions import RECORD_VERSION
from dunnage.store.layout import ResultLayout
from dunnage.store.read import open_result
from dunnage.store.write import JOURNAL_VERSION

SINGLE = "topology: single"
STUDY = tried.changed(
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


def carried_out(text: str, place: Path) -> Path:
    """Measure the text of a study; returns its result."""
    (place / "study.yaml").write_text(text)
    shown = dunnage("run", place / "study.yaml", "--results", place / "results")
    assert shown.code == 0, shown.err
    return open_result(place / "results").layout.root


def told(shown: Shown, *codes: ExitCode) -> str:
    """What was said, of a command that ended as it may."""
    said = shown.out + shown.err
    assert "Traceback" not in said, said
    assert "please report it" not in said
    assert shown.harmless, said
    assert shown.code in codes, (shown.code, said)
    return said


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


def without_checksums(spot: Spot) -> None:
    """Make it a result of an older Dunnage."""
    events = map(json.loads, journal(spot).read_text().splitlines())
    older = (json.dumps({**event, "version": 1}) for event in events if event["event"] != "kept")
    journal(spot).write_text("".join(f"{line}\n" for line in older))


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


def without_line(spot: Spot, event: str, which: int) -> str:
    """Remove one of the lines of an event from the journal; returns that line."""
    lines = journal(spot).read_text().splitlines(keepends=True)
    (index, line), *_ = [(i, line) for i, line in enumerate(lines) if f'"{event}"' in line][which:]
    journal(spot).write_text("".join((*lines[:index], *lines[index + 1 :])))
    return line
