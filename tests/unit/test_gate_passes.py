"""Two passes that can be shown: which results count as one, and what is said of those that lack."""

from __future__ import annotations

import subprocess
from datetime import UTC, datetime
from itertools import product
from pathlib import Path

import pytest

from gate.known import Known
from gate.proofs import commits
from gate.proofs.page import Result, Row
from gate.proofs.passes import lacking, passes, whole

WHEN = datetime(2026, 11, 28, 18, 52, tzinfo=UTC)
CODE = ["04d924f0aa", "c7d1b4f0bb"]
STATES = {
    "now": Result("yes", WHEN, 1.0, "04d924f"),
    "also now": Result("yes", WHEN, 1.0, "c7d1b4f"),
    "changed": Result("yes", WHEN, 1.0, "04d924f and changes"),
    "earlier": Result("yes", WHEN, 1.0, "1234567"),
    "unknown": Result("yes", WHEN, 1.0),
    "failed": Result("**no**", WHEN, 1.0, "04d924f"),
    "not tested": Result("not tested", WHEN, 1.0, "04d924f"),
    "none": None,
}


def row(last: str, before: str = "none") -> Row:
    result = STATES[last]
    assert result is not None
    return Row("a.py::test", "seen", result, "m", STATES[before])


def test_a_pass_is_a_claim_that_held_with_the_present_code_and_a_failure_after_it_ends_it() -> None:
    passed = {"now", "also now"}
    for last, before in product([each for each in STATES if each != "none"], STATES):
        expected = 0
        if last in passed:
            expected = 2 if before in passed else 1
        elif last == "not tested":
            expected = 1 if before in passed else 0
        assert passes(row(last, before), CODE) == expected, (last, before)
    assert passes(None, CODE) == 0
    assert passes(row("now", "now"), []) == 0


def test_what_lacks_a_pass_is_named_with_why_and_how_long_it_takes() -> None:
    rows = {
        "twice": row("now", "also now"),
        "once": row("now", "failed"),
        "failed": row("failed", "now"),
        "skipped": row("not tested"),
        "earlier": row("earlier"),
        "unknown": row("unknown"),
    }
    proofs = [Known(test, frozenset({"quiet"}), 10) for test in (*rows, "new")]
    assert lacking(proofs, rows, "04d924f", CODE) == [
        "Since 04d924f, 1 of 7 proofs held twice, 1 once, and 5 not yet.",
        "",
        "They lack both passes (about 14 s by last times and limits):",
        "  failed: did not hold 2026-11-28 18:52, 1 s, with 04d924f: seen",
        "  skipped: not tested 2026-11-28 18:52, 1 s, with 04d924f: seen",
        "  earlier: held 2026-11-28 18:52, 1 s, with 1234567",
        "  unknown: held 2026-11-28 18:52, 1 s, with an unknown commit",
        "  new: never tried",
        "",
        "They lack the second pass (about 1 s by last times and limits):",
        "  once",
        "",
        "Go on with: make proofs MINUTES=150",
    ]
    assert lacking(proofs[:1], rows, "04d924f", CODE) == [
        "Since 04d924f, 1 of 1 proofs held twice, 0 once, and 0 not yet."
    ]
    endless = lacking([Known("endless")], {}, "04d924f", CODE)
    assert endless[2:4] == ["They lack both passes:", "  endless: never tried"]


@pytest.fixture
def clone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository with two commits of code, and one of documents after them."""
    monkeypatch.chdir(tmp_path)
    git("init", "-q")
    for name in ("first.py", "second.py", "read.md"):
        Path(name).write_text("x")
        git("add", ".")
        git("commit", "-q", "-m", name)
    return tmp_path


def git(*words: str) -> str:
    who = ("-c", "user.name=a", "-c", "user.email=a@example.org")
    return subprocess.run(
        ["git", *who, *words], capture_output=True, text=True, check=True
    ).stdout.strip()


def test_a_commit_is_named_and_changes_that_are_no_documents_are_said(clone: Path) -> None:
    head = git("rev-parse", "--short", "HEAD")
    assert commits.here() == head
    Path("docs").mkdir()
    Path("docs/proofs.md").write_text("x")
    Path("read.md").write_text("y")
    assert commits.here() == head
    Path("new.py").write_text("x")
    assert commits.here() == f"{head} and changes"


def test_commits_after_one_of_this_line_count_and_others_do_not(clone: Path) -> None:
    third, second, first = git("rev-list", "HEAD").split()
    assert commits.newest() == git("rev-parse", "--short", second)
    assert sorted(commits.since(first[:8])) == sorted([first, second, third])
    assert commits.since("HEAD") == [third]
    git("checkout", "-q", "-b", "other", first)
    Path("third.py").write_text("x")
    git("add", ".")
    git("commit", "-q", "-m", "other")
    assert commits.since(second) == [second]
    assert commits.since("nothing") == []


def test_without_git_no_commit_is_known(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert (commits.here(), commits.newest(), commits.since("HEAD")) == ("", "", [])
    monkeypatch.setenv("PATH", str(tmp_path))
    assert commits.here() == ""


def test_a_commit_that_nobody_knows_is_told(
    clone: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert whole("nothing") == 2
    said = "dunnage: git knows no such commit here: nothing; type: git log --oneline\n"
    assert capsys.readouterr().out == said
