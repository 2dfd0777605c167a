"""What is in a result and not of its study: copies, reports, older files."""

from __future__ import annotations

import json
import shlex
import shutil
from pathlib import Path

import pytest
from damages import (
    RUNS,
    Spot,
    garbled,
    journal,
    plan,
    replaced,
    samples,
    study,
    told,
    without_checksums,
)
from hostile import dunnage

from dunnage.errors import ExitCode


def test_records_that_the_study_did_not_write_do_not_count(spot: Spot, whole: Path) -> None:
    """The journal lists what was written; a record that was put beside it has no place there."""
    lines = journal(spot).read_text().splitlines()
    kept = [line for line in lines if f"runs/{spot.run}/" not in line]
    assert len(kept) < len(lines)
    journal(spot).write_text("\n".join(kept) + "\n")
    said = told(dunnage("verify", spot.root), ExitCode.DAMAGED)
    assert f"runs/{spot.run}/record.json: it was not written by this study" in said


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


def test_nothing_is_exported_into_the_raw_parts_of_a_result(spot: Spot) -> None:
    for place in (spot.root, spot.root / "runs", spot.record.parent):
        said = told(dunnage("export", spot.root, "--to", place), ExitCode.USAGE)
        assert "this is inside the result" in said


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
