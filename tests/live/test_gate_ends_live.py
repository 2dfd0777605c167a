"""What hangs, what ends the gate, and what it shares the machine with."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from gated import ONE_STAGE, carried, environment, written

from dunnage.hosts.control_groups.groups import MOST_WEIGHT, Shape
from dunnage.hosts.control_groups.here import control_groups
from gate.stages import Machine
from gate.turn import WITHIN, turn
from gate.weight import weight

pytestmark = [pytest.mark.live, pytest.mark.timeout(300)]

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

INTERRUPTED = """
from gate import outcome
take = outcome.Told.take
def interrupted(told, lines):
    if any("test_before" in line and "ended" in line for line in lines):
        outcome.Told.take = take
        raise KeyboardInterrupt
    take(told, lines)
outcome.Told.take = interrupted
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

BUILT = """
import pytest, time
pytestmark = pytest.mark.timeout(1, func_only=True)
@pytest.fixture(scope="module")
def built(): time.sleep(4)
def test_of_what_was_built(built): pass
def test_hangs(built): time.sleep(600)
"""

HOGGED = """
import os, pathlib
def test_two_processes_of_the_gate():
    gate = os.getppid()
    children = pathlib.Path(f"/proc/{gate}/task/{gate}/children").read_text().split()
    assert len(children) == 2
"""


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


@pytest.mark.parametrize("workers", [1, pytest.param(2, marks=pytest.mark.proof)])
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


def test_what_a_test_needs_may_take_longer_than_a_limit_that_leaves_it_out(
    tmp_path: Path,
) -> None:
    soon = "import gate.plugin\ngate.plugin.CLEANING = 1\n"
    written(tmp_path, {"tests/test_one.py": BUILT, "tests/conftest.py": soon})
    code, said = carried(tmp_path, "-c", ONE_STAGE.format(minutes=2, hogged=False, workers=1))
    assert code == 1
    assert "FAILED tests/test_one.py::test_hangs" in said
    assert said.splitlines()[-1] == "gate: 1 passed, 1 failed, 0 skipped"


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


def test_an_interruption_loses_nothing_that_a_stage_has_told(tmp_path: Path) -> None:
    written(tmp_path, {"tests/test_one.py": WAITS})
    _, said = carried(tmp_path, "-c", INTERRUPTED + ENDED)
    assert said.splitlines()[-1] == "gate: 1 passed, 1 failed, 0 skipped"


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
