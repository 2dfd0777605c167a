"""README's tables of support: each line leads to what shows it, and one that does not is named."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

import pytest

from gate.outcome import Outcome, State
from gate.proofs.page import PAGE, Row, row
from gate.supported import PROVEN, README, UNSEEN, held, wrong

ROOT = Path(__file__).parents[2]

SHORT = "tests/test_short.py"
LONG = "tests/test_long.py"
TESTS = {
    f"{SHORT}::test_real": frozenset({"live"}),
    f"{SHORT}::test_pure": frozenset({"timeout"}),
    f"{SHORT}::TestPage::test_seen[wide]": frozenset({"browser"}),
    f"{SHORT}::TestPage::test_seen[narrow]": frozenset({"browser"}),
    f"{LONG}::test_whole[a|b]": frozenset({"live", "proof"}),
    f"{LONG}::test_whole[failed]": frozenset({"live", "proof"}),
    f"{LONG}::test_whole[never]": frozenset({"live", "proof"}),
    f"{LONG}::test_sums": frozenset({"proof"}),
}
RESULTS = {
    f"{LONG}::test_whole[a|b]": State.PASSED,
    f"{LONG}::test_whole[failed]": State.FAILED,
    f"{LONG}::test_sums": State.PASSED,
}

PROJECT = {
    "pyproject.toml": """
[tool.pytest.ini_options]
markers = ["live: real", "proof: long"]
""",
    SHORT: """
import pytest

@pytest.fixture(params=[pytest.param("a", marks=pytest.mark.live), "b"])
def place(request): return request.param

def test_place(place): raise AssertionError("nothing is run")
""",
    LONG: """
import pytest
pytestmark = pytest.mark.live

@pytest.mark.parametrize("of", [1, pytest.param(2, marks=pytest.mark.proof)])
def test_whole(of): pass
""",
}


def proofs(results: Mapping[str, State] = RESULTS) -> dict[str, Row]:
    """The rows of proofs with these results."""
    now = datetime.now(UTC)
    return {test: row(Outcome(test, state), now, "here") for test, state in results.items()}


def link(file: str, name: str, page: Path | None = None) -> str:
    """How README links to a test, or to its row of a page."""
    return f'[seen]({page} "{file}::{name}")' if page else f'[seen]({file} "{name}")'


def readme(proven: list[str], unseen: list[str]) -> str:
    """A README with these lines in its tables."""
    head = "\n| part | said | tests |\n|---|---|---|\n"
    tables = ((PROVEN, proven), (UNSEEN, unseen))
    return "# Name\n" + "".join(
        f"{heading}\nA sentence.\n{head}" + "".join(f"{line}\n" for line in lines) + "\n"
        for heading, lines in tables
    )


@pytest.mark.timeout(300)
def test_each_line_of_readme_leads_to_what_shows_it() -> None:
    code, said = asked(ROOT)
    assert code == 0, said


def test_what_is_shown_is_right() -> None:
    text = readme(
        [
            f"| one | all of it | {link(SHORT, 'test_real')}, {link(SHORT, 'test_pure')} |",
            f"| two | [a study](studies/a.yaml) | {link(SHORT, 'TestPage::test_seen')} |",
            f"| three | a \\| b | {link(SHORT, 'TestPage::test_seen[wide]')} |",
        ],
        [
            "| four | no such machine | |",
            f"| five | never run | {link(LONG, 'test_whole[never]')} |",
            f"| six | not written | {link(SHORT, 'test_pure')} |",
        ],
    )
    assert wrong(text, TESTS, held(proofs())) == []


def test_a_proof_that_held_is_found_by_its_name_in_its_row() -> None:
    links = [link(LONG, r"test_whole[a\|b]"), link(LONG, r"test_whole[a\|b]", PAGE)]
    text = readme([f"| part | all of it | {each} |" for each in links], ["| other | why | |"])
    assert wrong(text, TESTS, held(proofs())) == []
    failed = dict.fromkeys(RESULTS, State.FAILED)
    why = f"part: {PAGE} does not say that this held: `make proofs ONLY='{LONG}::test_whole[a|b]'`"
    assert wrong(text, TESTS, held(proofs(failed))) == [why, why]


def test_all_mistakes_are_named_at_once() -> None:
    text = readme(
        [
            "| none | all of it | |",
            f"| pure | all of it | {link(SHORT, 'test_pure')} |",
            f"| sums | all of it | {link(LONG, 'test_sums', PAGE)} |",
            f"| gone | all of it | {link(SHORT, 'test_gone')}, {link('tests/no.py', 'test_a')} |",
            f"| part | all of it | {link(SHORT, 'test_re')} |",
            f"| bare | all of it | [seen]({SHORT}), {link(SHORT, 'test_real')} |",
            f"| failed | all of it | {link(LONG, 'test_whole[failed]')} |",
            f"| never | all of it | {link(LONG, 'test_whole[never]', PAGE)} |",
            f"| no row | all of it | {link(SHORT, 'test_real', PAGE)} |",
            f"| narrow | {link(SHORT, 'test_real')} |",
        ],
        ["| why | | |", f"| lost | a reason | {link(LONG, 'test_whole[lost]')} |"],
    )
    pure = "none of its tests runs against the real thing"
    unheld = f"{PAGE} does not say that this held: `make proofs ONLY='{LONG}::test_whole"
    assert wrong(text, TESTS, held(proofs())) == [
        "none: no link shows it",
        f"pure: {pure}",
        f"sums: {pure}",
        f"gone: there is no such test: {SHORT}::test_gone",
        "gone: there is no such test: tests/no.py::test_a",
        f"part: there is no such test: {SHORT}::test_re",
        f"bare: the title of this link names no test: {SHORT}",
        f"failed: {unheld}[failed]'`",
        f"never: {unheld}[never]'`",
        f"no row: {PAGE} has no row of it, as it is no proof: {SHORT}::test_real",
        "narrow: it has 2 columns and not 3",
        "why: no reason is given",
        f"lost: there is no such test: {LONG}::test_whole[lost]",
    ]


def test_a_table_that_is_gone_is_named() -> None:
    assert wrong("# Name\n", TESTS, ()) == [
        f"{README}: there is no table below `{PROVEN}`",
        f"{README}: there is no table below `{UNSEEN}`",
    ]


def test_tests_are_known_with_the_marks_that_pytest_finds(tmp_path: Path) -> None:
    proven = [
        f"| one | all | {link(SHORT, 'test_place[a]')} |",
        f"| two | all | {link(LONG, 'test_whole[1]')} |",
    ]
    unseen = ["| three | no such machine | |"]
    written(tmp_path, PROJECT | {str(README): readme(proven, unseen)})
    code, said = asked(tmp_path)
    assert (code, said) == (0, f"{README}: what its tables say is shown by what they link to\n")
    proven += [
        f"| four | all | {link(SHORT, 'test_place[b]')} |",
        f"| five | all | {link(LONG, 'test_whole')} |",
        f"| six | all | {link('tests/test_broken.py', 'test_a')} |",
    ]
    written(
        tmp_path,
        {str(README): readme(proven, unseen), "tests/test_broken.py": "raise OSError('no luck')\n"},
    )
    code, said = asked(tmp_path)
    assert code == 1
    assert "OSError: no luck" in said
    assert said.splitlines()[-3:] == [
        "four: none of its tests runs against the real thing",
        f"five: {PAGE} does not say that this held: `make proofs ONLY='{LONG}::test_whole[2]'`",
        "six: there is no such test: tests/test_broken.py::test_a",
    ]


def test_where_no_test_is_linked_to_none_is_looked_for(tmp_path: Path) -> None:
    written(tmp_path, PROJECT | {str(README): readme(["| one | all | |"], ["| two | x | |"])})
    assert asked(tmp_path) == (1, "one: no link shows it\n")


def written(place: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        (place / name).write_text(text)


def asked(place: Path) -> tuple[int, str]:
    """The exit code of `python -m gate.supported` in a project; its errors, then what it said."""
    done = subprocess.run(
        [sys.executable, "-m", "gate.supported"],
        cwd=place,
        env={**os.environ, "PYTHONPATH": str(ROOT), "PYTEST_ADDOPTS": "-k nothing"},
        capture_output=True,
        text=True,
        timeout=280,
    )
    return done.returncode, done.stderr + done.stdout
