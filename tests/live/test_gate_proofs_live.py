"""`make proofs`, over small projects: which are tried, when, and what their page has then."""

from __future__ import annotations

import json
import math
import re
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest
from gated import FAULTY, carried, environment, written

from gate.proofs import PAGE
from gate.proofs.page import Result, Row, read, write
from gate.stages import COLLECTION

pytestmark = [pytest.mark.live, pytest.mark.timeout(300)]

LONG = """
import pathlib, pytest
pytestmark = pytest.mark.proof

def began(name):
    with pathlib.Path("began").open("a") as names:
        names.write(f"{name}\\n")

@pytest.fixture(scope="module")
def once(): began("once")
def test_pure(): began("pure")
@pytest.mark.quiet
@pytest.mark.parametrize("name", ["newer", "older", "longest"])
def test_speed(name): began(name)
@pytest.mark.quiet
@pytest.mark.timeout(30)
def test_new(): began("new")
@pytest.mark.quiet
@pytest.mark.timeout(30)
@pytest.mark.parametrize("of", [1, 2])
def test_sharing(once, of): began(f"sharing {of}")
"""

PROJECT = {
    "tests/test_long.py": LONG,
    "tests/test_broken.py": FAULTY["tests/test_broken.py"],
    "tests/test_moon.py": FAULTY["tests/test_moon.py"],
    "pyproject.toml": """
[tool.pytest.ini_options]
markers = ["proof: long", "quiet: alone"]
""",
    "Makefile": "engine tools:\n\t@true\n",
    ".gitignore": "/began\n/target/\n__pycache__/\n.pytest_cache/\n",
    "docs/.keep": "",
}

COLLECTED = """
import json, pathlib
from gate.carry import carry_out
from gate.stages import COLLECTION
told = []
outcomes = carry_out(COLLECTION, pathlib.Path("target"), told.append).outcomes
known = [(each.test, sorted(each.marks), each.limit, each.made_for) for each in told[-1].known]
print(json.dumps([{each.test: each.state for each in outcomes}, known]))
"""


def test_a_name_that_no_proof_has_is_answered_with_the_names_of_all(tmp_path: Path) -> None:
    proof = "import pytest\n@pytest.mark.proof\ndef test_long(): pass\n"
    written(tmp_path, {"tests/test_one.py": proof, "Makefile": FAULTY["Makefile"]})
    (tmp_path / PAGE).parent.mkdir()
    code, said = carried(tmp_path, "-m", "gate", "proofs", ONLY="no 'such tests/test_one.py")
    assert code == 2
    collection, _, answer = said.partition("\n")
    assert re.fullmatch(r"\[ 1/\d+\] collection .* 1 passed", collection)
    assert answer == (
        "The proofs:\ntests/test_one.py::test_long\ndunnage: no proof is named: no, 'such\n"
    )
    code, said = carried(tmp_path, "-m", "gate", "proofs", ONLY="tests/test_one.py")
    assert (code, said.splitlines()[-1]) == (1, "gate: 2 passed, 2 failed, 0 skipped")
    assert "| long | yes |" in (tmp_path / PAGE).read_text()


@pytest.mark.parametrize("said", ["0", "-3", "soon", "nan"])
def test_a_time_that_is_none_is_told_before_anything_starts(tmp_path: Path, said: str) -> None:
    assert carried(tmp_path, "-m", "gate", "proofs", MINUTES=said) == (
        2,
        f"dunnage: this is no number of minutes: {said}; type: make proofs MINUTES=150\n",
    )


def test_a_page_that_nobody_can_read_is_told_before_anything_starts(tmp_path: Path) -> None:
    written(tmp_path, {str(PAGE): "# Proofs\n"})
    said = (
        f"dunnage: {PAGE}:1 is not as `make proofs` writes it; to see what was changed, "
        f"type: git diff {PAGE}\n"
    )
    assert carried(tmp_path, "-m", "gate", "proofs") == (2, said)
    assert carried(tmp_path, "-m", "gate.proofs", "whole") == (2, said)


def test_which_proofs_lack_a_pass_is_asked_with_one_commit_at_most(tmp_path: Path) -> None:
    for words in ([], ["all"], ["whole", "a", "b"]):
        asked = subprocess.run(
            [sys.executable, "-m", "gate.proofs", *words],
            cwd=tmp_path,
            env=environment(tmp_path),
            capture_output=True,
            text=True,
        )
        assert asked.returncode == 1
        assert asked.stderr == "usage: python -m gate.proofs whole [COMMIT]\n"


def test_what_is_known_of_a_proof_before_it_runs(tmp_path: Path) -> None:
    written(tmp_path, {**PROJECT, "target/.keep": ""})
    code, said = carried(tmp_path, "-c", COLLECTED)
    assert code == 0
    states, known = json.loads(said)
    assert states == {
        COLLECTION.name: "passed",
        "tests/test_broken.py": "failed",
        "tests/test_moon.py": "skipped",
    }
    plain, quiet, name = ["proof"], ["proof", "quiet"], "tests/test_long.py::test_"
    assert {test: (set(marks) - {"parametrize"}, *more) for test, marks, *more in known} == {
        f"{name}pure": ({*plain}, math.inf, f"{name}pure"),
        **{
            f"{name}speed[{each}]": ({*quiet}, math.inf, f"{name}speed[{each}]")
            for each in ("newer", "older", "longest")
        },
        f"{name}new": ({*quiet, "timeout"}, 30, f"{name}new"),
        f"{name}sharing[1]": ({*quiet, "timeout"}, 30, "tests/test_long.py"),
        f"{name}sharing[2]": ({*quiet, "timeout"}, 30, "tests/test_long.py"),
    }
    assert not (tmp_path / "began").exists()


def test_a_portion_is_the_oldest_proofs_that_fit_and_only_their_rows_are_new(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(written(tmp_path, PROJECT))
    days = {
        "long.py::test_speed[longest]": (1, 3600),
        "long.py::test_speed[older]": (2, 400),
        "long.py::test_speed[newer]": (3, 400),
        "long.py::test_pure": (4, 1),
        "long.py::test_gone": (5, 1),
        "broken.py::test_that_nobody_sees": (6, 1),
        "moon.py::test_that_nobody_sees": (7, 1),
    }
    earlier = {}
    for name, (day, seconds) in days.items():
        when = datetime(2026, 11, day, tzinfo=UTC)
        earlier[name] = Row(f"tests/test_{name}", "x", Result("yes", when, seconds), "m")
    write({row.test: row for row in earlier.values()})
    git = ("git", "-c", "user.name=a", "-c", "user.email=a@example.org")
    for words in (("init", "-q"), ("add", "."), ("commit", "-q", "-m", "all")):
        subprocess.run([*git, *words], check=True)
    asked = [*git, "rev-parse", "--short", "HEAD"]
    commit = subprocess.run(asked, capture_output=True, text=True, check=True).stdout.strip()

    code, said = carried(tmp_path, "-m", "gate", "proofs", MINUTES="10")
    assert code == 1
    failed = said.partition("\nFailed:\n")[2].partition("\n\n")[0]
    assert failed == "  tests/test_broken.py"
    began = Path("began").read_text().splitlines()
    assert sorted(began[:4]) == ["new", "once", "sharing 1", "sharing 2"]
    assert began[4:] == ["older", "newer", "pure"]
    assert "row of a proof that is no more is dropped: tests/test_long.py::test_gone\n" in said
    assert (
        "\nNot begun, for they do not fit into what is left of 10 min (1):\n"
        "  2026-11-01 00:00, about 60 min 0 s: tests/test_long.py::test_speed[longest]\n"
        "Go on with: make proofs MINUTES=10\n"
        "What needs more than all of it: make proofs ONLY='TEST'\n"
    ) in said
    rows = {test.partition("tests/test_")[2]: row for test, row in read().items()}
    for name in ("longest", "broken", "moon"):
        (kept,) = (each for each in earlier if name in each)
        assert rows.pop(kept) == earlier[kept]
    for name in ("long.py::test_speed[older]", "long.py::test_speed[newer]", "long.py::test_pure"):
        row = rows.pop(name)
        assert row.before == earlier[name].last
        assert (row.last.held, row.last.commit) == ("yes", commit)
    assert {row.before for row in rows.values()} == {None}
    assert len(rows) == 3  # those that were new

    code, said = carried(tmp_path, "-m", "gate.proofs", "whole")
    assert code == 1
    assert f"\nSince {commit}, 0 of 7 proofs held twice, 6 once, and 1 not yet.\n" in said
    assert "  tests/test_long.py::test_speed[longest]: held 2026-11-01 00:00, 60 min 0 s" in said
    assert said.startswith("Not collected: tests/test_broken.py; log: target/gate/collection.log\n")
    assert "drops their rows" not in said
