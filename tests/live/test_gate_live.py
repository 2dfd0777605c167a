"""The gate itself, over a project with a fault for every stage: each is named, and all ran."""

from __future__ import annotations

import json
import math
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from dunnage.hosts.control_groups.groups import MOST_WEIGHT, Shape
from dunnage.hosts.control_groups.here import control_groups
from gate.known import Known
from gate.lanes import lane
from gate.outcome import Outcome, State, Told, told_apart
from gate.proofs import PAGE
from gate.proofs.page import Result, Row, Rows, claim, read, write
from gate.proofs.prove import forgotten, needed
from gate.stages import COLLECTION, PREPARATIONS, TEST, Kind, Machine
from gate.turn import WITHIN, turn
from gate.weight import weight

pytestmark = [pytest.mark.live, pytest.mark.timeout(300)]

ROOT = Path(__file__).parents[2]

FAULTY = {
    "pyproject.toml": """
[tool.ruff.lint]
select = ["F"]
[tool.mypy]
files = ["src"]
[tool.pytest.ini_options]
markers = ["live: real", "browser: real", "proof: long", "quiet: alone", "build: slow"]
[tool.importlinter]
root_package = "faulty"
[[tool.importlinter.contracts]]
name = "low knows nothing of high"
type = "layers"
layers = ["faulty.high", "faulty.low"]
""",
    "Makefile": "engine tools go-format:\n\t@echo no $@ today; exit 1\n",
    "src/faulty/__init__.py": "",
    "src/faulty/high.py": "x  =  1\n",
    "src/faulty/low.py": 'import os\n\nimport faulty.high\n\ny: int = "no number"\n',
    "Cargo.toml": '[package]\nname = "faulty"\nversion = "0.1.0"\nedition = "2021"\n',
    "Cargo.lock": 'version = 4\n\n[[package]]\nname = "faulty"\nversion = "0.1.0"\n',
    "src/lib.rs": """
pub  fn empty(of: &[u8]) -> bool { return of.len() == 0; }
#[cfg(test)]
mod tests {
    #[test]
    fn wrong() { assert!(super::empty(&[1])); }
    #[test]
    fn right() { assert!(super::empty(&[])); }
}
""",
    "tests/test_pure.py": """
import pathlib, time, pytest

def test_right(): pass
def test_wrong(): assert 1 == 2
def test_by_chance():
    once = pathlib.Path(__file__).with_name("once")
    seen = once.exists()
    once.touch()
    assert seen
@pytest.mark.timeout(1)
def test_endless(): time.sleep(600)
def test_left_out(): pytest.skip("there is no moon today")
""",
    "tests/test_live.py": """
import pytest
pytestmark = pytest.mark.live
def test_real_and_right(): pass
def test_real_and_wrong(): assert "native" == "docker"
@pytest.mark.quiet
def test_fast_and_wrong(): assert 2 < 1
@pytest.mark.build
def test_built_and_wrong(): assert 2 < 1
""",
    "tests/test_moon.py": "import pytest\npytest.skip('no moon', allow_module_level=True)\n",
    "tests/test_broken.py": "import nothing_of_this_name\n",
    "schema/.keep": "",
    "docs/reference/.keep": "",
    "bench/.keep": "",
    "gate/.keep": "",
}


def environment(place: Path) -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": f"{ROOT}:{place}/src", "NO_COLOR": "1"}


def carried(place: Path, *words: str, **variables: str) -> tuple[int, str]:
    """The gate's exit code and all it said in a project, without colours."""
    done = subprocess.run(
        [sys.executable, *words],
        cwd=place,
        env=environment(place) | variables,
        capture_output=True,
        text=True,
        timeout=280,
    )
    assert done.stderr == ""
    return done.returncode, done.stdout


def written(place: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        (place / name).write_text(text)
    return place


@pytest.fixture(scope="module")
def faulty(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[int, str]]:
    """What the gate says of a project in which every stage finds a fault."""
    place = written(tmp_path_factory.mktemp("faulty"), FAULTY)
    (place / "gate").rename(place / "not-the-gate")
    (place / "gate").symlink_to(ROOT / "gate")
    yield carried(place, "-m", "gate", "test")


def test_a_fault_in_each_stage_is_named_while_all_others_ran(faulty: tuple[int, str]) -> None:
    code, said = faulty
    assert code == 1
    for place, stage in enumerate(TEST, start=1):
        ended = re.search(rf"^\[ *{place}/{len(TEST)}\] {stage.name} .*$", said, re.MULTILINE)
        assert ended, (stage.name, said)
        assert "failed" in ended[0], ended[0]
        at_once = said[ended.end() :].partition("\n[")[0]
        assert re.match(r"(\n +(failed|flaky) .+)+\n +log: target/gate/.+\.log", at_once), at_once
    failed = said.partition("\nFailed:\n")[2].partition("\n\n")[0].splitlines()
    assert sorted(line.strip() for line in failed) == sorted(
        [
            *(stage.name for stage in TEST if stage.kind is Kind.COMMAND),
            "rust tests tests::wrong",
            *("tests/test_broken.py" for stage in TEST if stage.kind is Kind.PYTEST),
            "tests/test_pure.py::test_wrong",
            "tests/test_pure.py::test_endless",
            "tests/test_live.py::test_real_and_wrong",
            "tests/test_live.py::test_fast_and_wrong",
            "tests/test_live.py::test_built_and_wrong",
        ]
    )


def test_chance_and_skips_are_named_with_their_reason_and_do_not_fail(
    faulty: tuple[int, str],
) -> None:
    _, said = faulty
    flaky = said.partition("\nFlaky")[2].partition("\n\n")[0]
    assert flaky.splitlines()[1:] == ["  tests/test_pure.py::test_by_chance"]
    assert "  tests/test_pure.py::test_left_out: there is no moon today\n" in said
    stages = sum(stage.kind is Kind.PYTEST for stage in TEST)
    assert said.count("  tests/test_moon.py: no moon\n") == stages
    *_, flaky, counts = said.splitlines()
    assert flaky == "1 flaky, counted as passed."
    assert re.fullmatch(rf"gate: 4 passed, \d+ failed, {1 + stages} skipped", counts)


def test_a_project_without_a_fault_but_with_chance_is_green(tmp_path: Path) -> None:
    written(
        tmp_path, {"tests/test_one.py": FAULTY["tests/test_pure.py"].split("def test_wrong")[0]}
    )
    chance = "\ndef test_by_chance():" + FAULTY["tests/test_pure.py"].split("test_by_chance():")[1]
    (tmp_path / "tests/test_one.py").open("a").write(chance.split("@pytest")[0])
    code, said = carried(tmp_path, "-c", ONE_STAGE.format(minutes=1, hogged=False, workers=1))
    assert code == 0, said
    assert "Flaky" in said
    assert said.splitlines()[-1] == "gate: 2 passed, 0 failed, 0 skipped"
    (told,) = tmp_path.glob("*.told")  # why it failed the first time can still be read
    tries = [json.loads(line) for line in told.read_text().splitlines()]
    ends = [
        (each["outcome"], "assert seen" in each["why"])
        for each in tries
        if each["event"] == "ended" and each["test"].endswith("by_chance")
    ]
    assert ends == [("failed", True), ("passed", False)]


def test_a_stage_that_hangs_is_killed_with_all_it_started_and_its_tests_are_named(
    tmp_path: Path,
) -> None:
    written(tmp_path, {"tests/test_one.py": HUNG})
    code, said = carried(tmp_path, "-c", ONE_STAGE.format(minutes=0.25, hogged=False, workers=1))
    assert code == 1
    assert "FAILED tests/test_one.py::test_hangs\n  it hung, and was killed" in said
    assert "FAILED tests/test_one.py::test_after\n  it was not run" in said
    assert said.splitlines()[-1] == "gate: 1 passed, 2 failed, 0 skipped"
    started = int((tmp_path / "started").read_text())
    assert not Path(f"/proc/{started}").exists()


IMPATIENT = """
from gate import carry, processes
carry.PATIENCE = processes.GRACE = 1
"""
ONE_STAGE = (
    IMPATIENT
    + """
import pathlib, sys
from gate.carry import carry_out
from gate.closing import closing
from gate.processes import adopt_orphans
from gate.stages import PYTEST, Kind, Stage
adopt_orphans()
named = tuple(sys.argv[1:])
stage = Stage("one", PYTEST, {minutes}, Kind.PYTEST, named, workers={workers}, hogged={hogged})
one = carry_out(stage, pathlib.Path("."), lambda told: None)
print("\\n".join(closing([one])))
sys.exit(any(each.state == "failed" for each in one.outcomes))
"""
)
ONE_COMMAND = (
    IMPATIENT
    + """
import pathlib
from gate.carry import carry_out
from gate.stages import Kind, Stage
stage = Stage("rust", ("sh", "-c", {shell!r}), {minutes}, Kind.CARGO)
for each in carry_out(stage, pathlib.Path("."), lambda told: None).outcomes:
    print(each.test, each.state)
"""
)
WAITS = """
import pathlib, time
def test_before(): pass
def test_waits():
    pathlib.Path("waits").touch()
    try:
        time.sleep(600)
    finally:
        pathlib.Path("tidied").touch()
"""
ENDED = """
import runpy, sys
from gate import stages
stages.TIERS["test"] = (stages.Stage("one", stages.PYTEST, 2, stages.Kind.PYTEST),)
sys.argv = ["gate", "test"]
runpy.run_module("gate", run_name="__main__", alter_sys=True)
"""
RUST_SAID = """
test result: FAILED. 1 passed; 1 failed; 0 ignored

failures:
    tests::wrong
"""
HUNG = """
import pathlib, pytest, signal, subprocess, time
def test_before(): pass
def test_hangs():
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGALRM, signal.SIGINT])
    child = subprocess.Popen(["setsid", "sleep", "600"])
    pathlib.Path("started").write_text(str(child.pid))
    time.sleep(600)
def test_after(): pass
"""
HOGGED = """
import os, pathlib
def test_two_processes_of_the_gate():
    gate = os.getppid()
    children = pathlib.Path(f"/proc/{gate}/task/{gate}/children").read_text().split()
    assert len(children) == 2
"""
BAD_END = """
def pytest_sessionfinish(session): session.exitstatus = 1
"""


@pytest.mark.parametrize("workers", [1, 2])
def test_a_test_that_no_signal_reaches_is_ended_and_those_after_it_run(
    tmp_path: Path, workers: int
) -> None:
    limited = HUNG.replace("def test_hangs", "@pytest.mark.timeout(1)\ndef test_hangs")
    soon = "import gate.plugin\ngate.plugin.CLEANING = 1\n"
    written(tmp_path, {"tests/test_one.py": limited, "tests/conftest.py": soon})
    code, said = carried(tmp_path, "-c", ONE_STAGE.format(minutes=2, hogged=False, workers=workers))
    assert code == 1
    assert "FAILED tests/test_one.py::test_hangs" in said
    assert said.splitlines()[-1] == "gate: 2 passed, 1 failed, 0 skipped"
    assert "in test_hangs" in (tmp_path / "one.log").read_text()
    started = int((tmp_path / "started").read_text())
    assert not Path(f"/proc/{started}").exists()


def test_of_tests_that_were_named_only_those_left_out_run_after_one_that_hung(
    tmp_path: Path,
) -> None:
    limited = HUNG.replace("def test_hangs", "@pytest.mark.timeout(1)\ndef test_hangs")
    soon = "import gate.plugin\ngate.plugin.CLEANING = 1\n"
    written(tmp_path, {"tests/test_one.py": limited, "tests/conftest.py": soon})
    one_stage = ONE_STAGE.format(minutes=2, hogged=False, workers=1)
    names = [f"tests/test_one.py::test_{name}" for name in ("hangs", "after")]
    code, said = carried(tmp_path, "-c", one_stage, *names)
    assert (code, said.splitlines()[-1]) == (1, "gate: 1 passed, 1 failed, 0 skipped")
    told = [json.loads(line) for line in (tmp_path / "one.told").read_text().splitlines()]
    tried_again = names[0]
    assert [each["test"] for each in told if each["event"] == "started"] == [*names, tried_again]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGKILL])
def test_whatever_ends_the_gate_ends_its_stages(tmp_path: Path, number: signal.Signals) -> None:
    written(tmp_path, {"tests/test_one.py": WAITS})
    words = [sys.executable, "-c", ENDED]
    with (tmp_path / "said").open("wb") as said:
        gate = subprocess.Popen(words, cwd=tmp_path, env=environment(tmp_path), stdout=said)
    tidied = tmp_path / "tidied"
    until(lambda: (tmp_path / "waits").exists())
    gate.send_signal(number)
    gate.wait(60)
    until(tidied.exists)
    if number is not signal.SIGKILL:
        ended = (tmp_path / "said").read_text()
        assert "Failed:\n  one\n" in ended
        assert ended.splitlines()[-1] == "gate: 1 passed, 1 failed, 0 skipped"


def until(seen: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not seen():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_what_judges_speed_waits_for_other_gates_and_they_for_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv(WITHIN, raising=False)
    lock, order = tmp_path / "lock", []

    def alone() -> None:
        with turn(Machine.ALONE, lock):
            order.append("alone")

    other = threading.Thread(target=alone)
    with turn(Machine.SHARED, lock):
        held = subprocess.run(["flock", "--nonblock", "--shared", str(lock), "true"])
        assert held.returncode == 0
        held = subprocess.run(["flock", "--nonblock", "--exclusive", str(lock), "true"])
        assert held.returncode == 1
        os.environ.pop(WITHIN)  # as another gate has it
        other.start()
        said = ""

        def waits() -> bool:
            nonlocal said
            said += capsys.readouterr().out
            return "waiting for it" in said

        until(waits)
        order.append("shared")
    other.join(60)
    assert order == ["shared", "alone"]


def test_beside_a_hogged_stage_another_process_works(tmp_path: Path) -> None:
    written(tmp_path, {"tests/test_one.py": HOGGED})
    code, said = carried(tmp_path, "-c", ONE_STAGE.format(minutes=1, hogged=True, workers=1))
    assert code == 0, said


def test_what_ends_badly_for_another_reason_than_a_test_is_no_success(tmp_path: Path) -> None:
    written(
        tmp_path,
        {"tests/test_one.py": "def test_right(): pass\n", "tests/conftest.py": BAD_END},
    )
    code, said = carried(tmp_path, "-c", ONE_STAGE.format(minutes=1, hogged=False, workers=1))
    assert code == 1
    assert said.splitlines()[-1] == "gate: 1 passed, 1 failed, 0 skipped"


@pytest.mark.parametrize(
    ("again", "minutes", "told"),
    [
        ("exit 0", 1, "rust tests::wrong flaky\n"),
        ("exit 101", 1, "rust tests::wrong failed\nrust failed\n"),
        ("sleep 60", 0.05, "rust tests::wrong failed\nrust failed\n"),
    ],
)
def test_a_rust_test_is_chance_only_if_all_passes_when_run_again(
    tmp_path: Path, again: str, minutes: float, told: str
) -> None:
    shell = f"test -e seen && {{ {again}; }}; touch seen; cat said; exit 101"
    written(tmp_path, {"said": RUST_SAID})
    code, said = carried(tmp_path, "-c", ONE_COMMAND.format(shell=shell, minutes=minutes))
    assert (code, said) == (0, f"rust 1 passed\n{told}")


def test_only_a_pass_makes_a_failure_chance() -> None:
    first = Outcome("a", State.FAILED, why="it broke")
    states = {
        again: told_apart(first, Outcome("a", again)).state
        for again in (State.PASSED, State.FAILED, State.SKIPPED)
    }
    assert states == {
        State.PASSED: State.FLAKY,
        State.FAILED: State.FAILED,
        State.SKIPPED: State.FAILED,
    }
    assert told_apart(first, None).state is State.FAILED


def test_the_claim_of_a_proof_is_the_name_of_its_test() -> None:
    assert claim("tests/live/test_x.py::test_a_claim_holds[3]") == "a claim holds (3)"


def test_a_name_that_no_proof_has_is_answered_with_the_names_of_all(tmp_path: Path) -> None:
    proof = "import pytest\n@pytest.mark.proof\ndef test_long(): pass\n"
    written(tmp_path, {"tests/test_one.py": proof, "Makefile": FAULTY["Makefile"]})
    (tmp_path / PAGE).parent.mkdir()
    code, said = carried(tmp_path, "-m", "gate", "proofs", ONLY="no 'such tests/test_one.py")
    assert code == 2
    collection, _, answer = said.partition("\n")
    assert re.fullmatch(r"\[ 1/7\] collection .* 1 passed", collection)
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


def test_what_only_some_proofs_need_is_made_for_these_alone() -> None:
    plain, pods = Known("plain", frozenset({"proof"})), Known("pods", frozenset({"kubernetes"}))
    without = ["engine", "tools"]
    assert [each.name for each in needed(PREPARATIONS, [plain])] == without
    assert [each.name for each in needed(PREPARATIONS, [plain, pods])] == [*without, "build"]


def test_proofs_that_were_tried_alone_take_the_place_of_their_own_rows_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    PAGE.parent.mkdir()

    def rows() -> list[list[str]]:
        lines = PAGE.read_text().partition("| --- |")[2].splitlines()[1:]
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


def test_what_runs_beside_labs_weighs_as_much_as_one_and_what_is_alone_as_before() -> None:
    mine, top = f"dunnage-gate-{os.getpid()}", Path("/sys/fs/cgroup")
    groups, lab = control_groups(), f"/dunnage-lab-of-gate-{os.getpid()}"

    def group_of_a_child() -> str:
        asked = ["grep", "-E", "^[0-9]+:([^:]*,)?cpu(,[^:]*)?:|^0::", "/proc/self/cgroup"]
        return subprocess.run(asked, capture_output=True, text=True, check=True).stdout

    def weighs(name: str) -> list[str]:
        files = [*top.glob(f"*/{name}/cpu.shares"), *top.glob(f"{name}/cpu.weight")]
        return [each.read_text() for each in files]

    before = group_of_a_child()
    with weight(Machine.ALONE):
        assert group_of_a_child() == before
    groups.make(lab, Shape(weight=MOST_WEIGHT))
    try:
        with weight(Machine.SHARED):
            assert mine in group_of_a_child()
            assert len(weighs(mine)) == 1
            assert weighs(mine) == weighs(lab.strip("/"))
    finally:
        groups.remove(lab)
    assert group_of_a_child() == before
    assert weighs(mine) == []


def test_of_all_studies_one_is_carried_out_at_a_time_and_beside_it_one_kubernetes() -> None:
    studies = {lane(f"tests/live/studies/test_{name}.py::test") for name in ("a", "kubernetes_b")}
    others = {
        lane("tests/live/test_kubernetes_live.py::test"),
        lane("tests/contract/test_contract_kubernetes.py::test[kubernetes]"),
        lane("tests/contract/test_contract_platform.py::TestPlatform::test[kubernetes-node-port]"),
    }
    assert len(studies) == len(others) == 1
    assert studies != others
    assert lane("tests/contract/test_contract_platform.py::TestPlatform::test[native]") == ""
