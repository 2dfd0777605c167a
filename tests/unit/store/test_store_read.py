"""A result directory is found and read, or it is said which file cannot be."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from results import tiny_plan, tiny_record, tiny_result

from dunnage.errors import NoResultError, ResultError
from dunnage.model.damage import Damage, Flaw
from dunnage.store.events import KEPT
from dunnage.store.newest import around
from dunnage.store.parse import breaks_off
from dunnage.store.read import open_result
from dunnage.store.whole import foundation
from dunnage.store.write import write_value

scalars = st.none() | st.booleans() | st.integers() | st.floats(-1e9, 1e9) | st.text()


def result_at(path: Path) -> Path:
    path.mkdir(parents=True)
    write_value(path / "plan.json", tiny_plan("r1"))
    return path


def test_the_newest_result_is_found_from_every_directory_above_it(tmp_path: Path) -> None:
    result_at(tmp_path / "b-study" / "2026-01-01T00-00-00Z-ffffff")
    newest = result_at(tmp_path / "a-study" / "2026-02-01T00-00-00Z-000000")
    result_at(tmp_path / "a-study" / "2026-01-15T00-00-00Z-ffffff")
    (tmp_path / "a-study" / "2026-03-01T00-00-00Z-begun").mkdir()
    for path in (tmp_path, tmp_path / "a-study", newest):
        assert open_result(path).layout.root == newest


@pytest.mark.parametrize(
    ("asked", "hint"),
    [
        ("a-stdy", "dunnage status '{}/a-study'"),
        ("study.yaml", "dunnage run '{}/study.yaml'"),
        ("nowhere/near", "dunnage quickstart"),
        ("empty", "dunnage quickstart"),
        ("x" * 5000, "dunnage quickstart"),
    ],
)
def test_where_no_result_is_the_next_command_is_the_nearest_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, asked: str, hint: str
) -> None:
    monkeypatch.chdir(tmp_path)
    place = tmp_path / "all of them"
    result_at(place / "a-study" / "2026-01-15T00-00-00Z-ffffff")
    (place / "empty").mkdir()
    (place / "study.yaml").touch()
    with pytest.raises(NoResultError) as raised:
        open_result(place / asked)
    assert raised.value.where == str(place / asked)
    assert raised.value.hint == hint.format(place)
    assert raised.value.exit_code == 2


@pytest.mark.parametrize("way", ["result", "link"])
def test_a_part_of_a_result_leads_to_the_whole_of_it(tmp_path: Path, way: str) -> None:
    result_at(tmp_path / "result")
    (tmp_path / "link").symlink_to(tmp_path / "result")
    for part in ("study.yaml", "runs", "runs/nothing/record.json"):
        with pytest.raises(NoResultError) as raised:
            open_result(tmp_path / way / part)
        assert raised.value.inside == str(tmp_path / way)
        assert raised.value.hint == f"dunnage report {tmp_path / way}"


def test_a_path_that_leads_nowhere_leads_into_no_result(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "removed").mkdir()
    monkeypatch.chdir(tmp_path / "removed")
    (tmp_path / "removed").rmdir()
    assert around(Path("results")) is None


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "is truncated"),
        ('{"version": 1, "study": "cut o', "is truncated"),
        ("[]", "is not a Plan"),
        ("\x00\x01", "is not JSON"),
        ('{"version": 1} {"study', "is not JSON"),
        ('{"version": 1 "study": 2}', "is not JSON"),
        ('{"version": 1, "foreign": true}', r"version 1\): 5 fields"),
        ('{"version": 999, "anything": "else"}', r"newer Dunnage \(version 999; this one reads 5"),
    ],
)
def test_a_plan_that_cannot_be_read_is_named(tmp_path: Path, text: str, told: str) -> None:
    path = result_at(tmp_path / "result") / "plan.json"
    path.write_text(text)
    with pytest.raises(ResultError, match=told) as raised:
        _ = open_result(path.parent).plan
    assert raised.value.where == str(path)


@pytest.mark.parametrize(
    ("text", "breaks"),
    [
        ("", True),
        ('{"a": 1,\n "b', True),
        ('{"a": 1}\n{"b": 2}\n{"c', True),
        ('{"a": 1}\n{"b": 2}\n', False),
        ('{"a": 1}\n{"b": 2}', False),
        ('{"a": 1}', False),
        ('{"a": x}\n{"b": 2}\n{"c', False),
        ('{"a": 1}\nx', False),
        ('{"a": 1} x', False),
        ('{"a": 1 "b": 2}', False),
        ("dunnage: 1\nname: t", False),
    ],
)
def test_only_what_is_seen_to_break_off_is_truncated(text: str, breaks: bool) -> None:
    assert breaks_off(text) is breaks


@given(st.recursive(scalars, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)))
def test_every_beginning_of_a_document_is_seen_to_break_off(document: object) -> None:
    text = json.dumps({"it": document}, indent=1, ensure_ascii=False)
    assert all(breaks_off(text[:cut]) for cut in range(len(text)))
    assert not breaks_off(text)


def test_a_record_of_a_newer_version_is_not_read_even_if_it_would_fit(tmp_path: Path) -> None:
    writer = tiny_result(tmp_path, "r1")
    writer.record(tiny_record("r1"))
    path = writer.layout.record("r1")
    path.write_text(json.dumps({**json.loads(path.read_text()), "version": 10**6}))
    result = open_result(writer.layout.root)
    assert result.records == ()
    (found,) = result.damaged_records
    assert (found.run, found.flaw, found.detail) == ("r1", Flaw.VERSION, str(10**6))
    assert result.finished() == {"r1"}


def test_bytes_that_are_no_text_are_named_too(tmp_path: Path) -> None:
    path = result_at(tmp_path / "result") / "plan.json"
    path.write_bytes(b"\xff\xfe\xfd")
    with pytest.raises(ResultError, match="is not JSON"):
        _ = open_result(path.parent).plan


def test_an_environment_that_is_cut_off_is_named(tmp_path: Path) -> None:
    writer = tiny_result(tmp_path)
    assert open_result(writer.layout.root).environment == {}
    writer.layout.environment.write_text('{"kernel": ')
    result = open_result(writer.layout.root)
    assert result.environment == {}
    assert result.unreadable == (Damage(file="environment.json", flaw=Flaw.TRUNCATED),)
    with pytest.raises(ResultError, match=r"environment\.json: is truncated"):
        writer.same_conditions({"kernel": "6.1"})


@pytest.mark.parametrize("file", ["calibration.json", "losses.json"])
def test_a_capacity_or_a_loss_that_cannot_be_read_is_not_known(tmp_path: Path, file: str) -> None:
    writer = tiny_result(tmp_path)
    assert open_result(writer.layout.root).unreadable == ()
    (writer.layout.root / file).write_text("[]")
    result = open_result(writer.layout.root)
    assert (result.calibration, result.losses) == (None, {})
    assert result.unreadable == (Damage(file=file, flaw=Flaw.GARBLED),)
    assert foundation(result)[-1] == Damage(file=file, flaw=Flaw.UNLISTED)


def test_records_come_in_the_order_of_the_plan_and_strangers_are_left_out(tmp_path: Path) -> None:
    writer = tiny_result(tmp_path, "r2", "r1", "r3")
    for run in ("r1", "r2", "stranger"):
        writer.record(tiny_record(run))
    result = open_result(writer.layout.root)
    assert [record.run for record in result.records] == ["r2", "r1"]
    assert result.records[1] == tiny_record("r1")
    assert result.finished() == {"r1", "r2"}


def test_a_journal_line_that_was_cut_off_is_passed_over(tmp_path: Path) -> None:
    writer = tiny_result(tmp_path)
    kept = list(open_result(writer.layout.root).events())
    assert {event["event"] for event in kept} == {KEPT}
    lines = [f'{{"version": 2, "event": "{name}", "wh": 1}}' for name in "abc"]
    writer.layout.journal.write_text("\n".join(lines)[:-5])
    events = open_result(writer.layout.root).events()
    assert [event["event"] for event in events] == ["a", "b"]


def test_the_study_is_kept_as_given_but_for_its_secrets(tmp_path: Path) -> None:
    assert open_result(tiny_result(tmp_path).layout.root).study_text.startswith("name: tiny\n")


def test_a_journal_that_grows_is_read_on(tmp_path: Path) -> None:
    writer = tiny_result(tmp_path)
    result = open_result(writer.layout.root)
    before = [event["event"] for event in result.events()]
    assert [event["event"] for event in result.events()] == before
    for name in ("first", "second"):
        writer.journal(name)
        before.append(name)
        assert [event["event"] for event in result.events()] == before
    assert result.journal.damage is None
    with writer.layout.journal.open("a") as file:
        file.write("garbage\n")
    found = result.journal.damage
    assert found is not None
    assert (found.flaw, found.detail) == (Flaw.GARBLED, "1 line")
    writer.layout.journal.unlink()
    assert list(result.events()) == []
    assert result.journal.damage is not None
