"""`docs/proofs.md`: what was written is read again, and no row is taken for another."""

from __future__ import annotations

import re
import tempfile
from datetime import UTC, datetime
from pathlib import Path

import pytest

from gate.known import Known
from gate.outcome import Outcome, State, Told
from gate.proofs import PAGE, command
from gate.proofs.page import PageError, Result, Row, Rows, claim, gone, read, row, write
from gate.proofs.prove import forgotten

ROOT = Path(__file__).parents[2]
WHEN = datetime(2026, 11, 28, 18, 52, tzinfo=UTC)
EARLIER = datetime(2026, 11, 24, 17, 18, tzinfo=UTC)
OLD = (
    "| spoilt studies end (1000) | yes | a\\|b | 2026-11-24 17:18, 47 s | 2 × AMD, 24 GiB "
    "| `make proofs ONLY='tests/test_a.py::test_spoilt_studies_end[1000]'` |\n"
)
OLD_HEAD = """\
# Proofs

| claim | held | what was seen | when (UTC), and how long | machine | command |
| --- | --- | --- | --- | --- | --- |
"""


@pytest.fixture
def page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A page that is not there yet."""
    monkeypatch.chdir(tmp_path)
    PAGE.parent.mkdir()
    return PAGE


@pytest.mark.parametrize(
    "before", [None, Result("**no**", EARLIER), Result("yes", EARLIER, 7.0, "c7d1b4f")]
)
@pytest.mark.parametrize(
    "last",
    [
        Result("yes", WHEN, 0.0),
        Result("**no**", WHEN, 59.0, "04d924f"),
        Result("yes", WHEN, 3601.0, "04d924f and changes"),
        Result("not tested", WHEN),
        Result("not tested", WHEN, commit="04d924f"),
    ],
)
def test_what_is_written_is_read_again(page: Path, last: Result, before: Result | None) -> None:
    rows = {
        test: Row(test, seen, last, "2 × AMD, 24 GiB", before)
        for test, seen in (("a.py::test_a", "1 | 2; \\| b\\"), ("a.py::test_b[x|y]", "c"))
    }
    write(rows)
    assert read() == rows
    text = page.read_text()
    write(read())
    assert page.read_text() == text


def test_a_page_that_is_not_there_has_no_rows(page: Path) -> None:
    assert read() == {}


def test_a_row_that_tells_neither_a_commit_nor_what_was_before_is_read_and_kept(
    page: Path,
) -> None:
    page.write_text(OLD_HEAD + OLD)
    name = "tests/test_a.py::test_spoilt_studies_end[1000]"
    kept = Row(name, "a|b", Result("yes", EARLIER, 47.0), "2 × AMD, 24 GiB")
    assert read() == {name: kept}
    write(read())
    assert read() == {name: kept}
    assert OLD.replace(" | 2 × AMD", " |  | 2 × AMD") in page.read_text()


def test_every_row_of_the_real_page_is_read_and_keeps_what_it_says(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(ROOT)
    lines = PAGE.read_text().partition("| --- |")[2].splitlines()[1:]
    rows = read()
    assert len(rows) == len(lines) > 0
    for line in lines:
        ((test, kept),) = ((test, one) for test, one in rows.items() if command(test) in line)
        before = re.split(r"(?<!\\)\|", line)[1:-1]
        now = re.split(r"(?<!\\)\|", str(kept))[1:-1]
        if len(before) == 6:
            assert now.pop(4).strip() == ""
        assert [each.strip() for each in now] == [each.strip() for each in before], test


@pytest.mark.parametrize(
    "line",
    [
        "",
        "<<<<<<< HEAD",
        OLD.replace("yes", "maybe").strip(),
        OLD.replace("2026-11-24 17:18", "2026-11-31 17:18").strip(),
        OLD.replace("2026-11-24 17:18", "yesterday").strip(),
        OLD.replace("make proofs", "make test").strip(),
        OLD.replace("| 2 × AMD", "| a cell | a cell | 2 × AMD").strip(),
        OLD.replace("| 2 × AMD", "| yes | 2 × AMD").strip(),
        OLD.replace("| 2 × AMD", "| yes, once | 2 × AMD").strip(),
    ],
)
def test_a_line_that_is_no_row_is_told_by_its_number_and_nothing_is_lost(
    page: Path, line: str
) -> None:
    page.write_text(f"{OLD_HEAD}{OLD}{line}\n{OLD}")
    text = page.read_text()
    with pytest.raises(PageError, match=r"^docs/proofs\.md:6 is not as .*type: git diff"):
        read()
    assert page.read_text() == text


def test_a_page_without_its_table_is_told(page: Path) -> None:
    page.write_text("# Proofs\n")
    with pytest.raises(PageError, match=r"^docs/proofs\.md:1 is not as"):
        read()


def test_two_tests_with_the_same_claim_have_a_row_each(page: Path) -> None:
    here, there = "tests/a.py::test_load[ring]", "tests/b.py::test_load[ring]"
    assert claim(here) == claim(there)
    write({test: row(Outcome(test, State.PASSED, 1.0), WHEN, "m") for test in (here, there)})
    assert read().keys() == {here, there}
    failed = row(Outcome(there, State.FAILED, 2.0, "E   no"), WHEN, "m", "", read()[there])
    write(read() | {there: failed})
    assert [read()[test].last.held for test in (here, there)] == ["yes", "**no**"]


@pytest.mark.parametrize(
    ("last", "before", "kept"),
    [
        ("yes", None, "yes"),
        ("**no**", "yes", "**no**"),
        ("not tested", "yes", "yes"),
        ("not tested", None, None),
    ],
)
def test_a_new_result_keeps_the_one_before_unless_that_was_not_tested(
    last: str, before: str | None, kept: str | None
) -> None:
    earlier = Row("a.py::test", "x", Result(last, WHEN), "m", None)
    if before:
        earlier = Row("a.py::test", "x", Result(last, WHEN), "m", Result(before, EARLIER))
    new = row(Outcome("a.py::test", State.PASSED, 3.0), WHEN, "m", "04d924f", earlier)
    assert new.last == Result("yes", WHEN, 3.0, "04d924f")
    assert (new.before and new.before.held) == kept


@pytest.mark.parametrize(
    ("outcome", "held", "seconds", "seen"),
    [
        (Outcome("t", State.PASSED, 2.0, seen=("a\nb", "c")), "yes", 2.0, "a b; c"),
        (Outcome("t", State.FAILED, why="it hung"), "**no**", None, "it hung"),
        (Outcome("t", State.SKIPPED, 0.5, "no moon"), "not tested", 0.5, "no moon"),
    ],
)
def test_a_row_says_what_became_of_a_test_in_one_line(
    outcome: Outcome, held: str, seconds: float | None, seen: str
) -> None:
    made = row(outcome, WHEN, "m")
    assert (made.last.held, made.last.seconds, made.seen) == (held, seconds, seen)
    assert "\n" not in str(made)


def test_rows_of_no_test_any_more_are_found_but_for_modules_that_nobody_sees() -> None:
    rows = ["a.py::test_1", "a.py::test_2[x]", "b.py::TestB::test_1", "c.py::test_1", "d.py::test"]
    unseen = ["b.py", "c.py::test_1"]
    assert gone(rows, {"a.py::test_1"}, unseen) == ["a.py::test_2[x]", "d.py::test"]
    assert gone(rows, set(rows), []) == []


def test_the_claim_of_a_proof_is_the_name_of_its_test() -> None:
    assert claim("tests/live/test_x.py::test_a_claim_holds[3]") == "a claim holds (3)"


def test_proofs_that_were_tried_alone_take_the_place_of_their_own_rows_only(page: Path) -> None:
    def rows() -> list[list[str]]:
        lines = page.read_text().partition("| --- |")[2].splitlines()[1:]
        return [line.strip("| ").split(" | ")[:3] for line in lines]

    one, other = (Outcome(f"t.py::test_{name}", State.PASSED) for name in ("one", "other[a]"))
    ended = Rows("")
    ended(Told(ended={other.test: other}))
    assert [claimed for claimed, *_ in rows()] == ["other (a)"]
    ended(Told(ended={other.test: other, one.test: one}))
    ended.finish([other, one])
    assert rows() == [[name, "yes", "every assertion held"] for name in ("one", "other (a)")]
    assert {row.before for row in read().values()} == {None}  # each was written once
    broken = Outcome(one.test, State.FAILED, why="E   it broke", seen=("a|b",))
    Rows("").finish([broken])
    held = ["other (a)", "yes", "every assertion held"]
    assert rows() == [["one", "**no**", "a\\|b; it broke"], held]
    Rows("").finish([Outcome("proofs", State.FAILED, why="exit code 4")])
    assert [claimed for claimed, *_ in rows()] == ["one", "other (a)"]
    assert forgotten(Told(known=[Known(other.test), Known("t.py::test_new")])) == [one.test]
    assert [claimed for claimed, *_ in rows()] == ["other (a)"]


def test_a_row_names_no_path_of_this_machine(tmp_path: Path, page: Path) -> None:
    passing = Path(tempfile.gettempdir()) / "pytest-of-me" / "pytest-12"
    why = f'E   Command \'["{tmp_path}/.venv/bin/python", "{passing}/results"]\' timed out'
    seen = row(Outcome("t", State.FAILED, why=why), WHEN, "m").seen
    assert seen == 'Command \'["./.venv/bin/python", "…/results"]\' timed out'
