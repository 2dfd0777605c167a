"""Whatever ends a study, finished runs count, and `--resume` completes the set without repeats."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from dunnage import catalog
from dunnage.cli.shared.studies import planned, study_at
from dunnage.errors import InterruptedRunError, ResultError
from dunnage.model.plan import Plan, RunPlan, StayPlan
from dunnage.model.record import Record
from dunnage.model.study import Study
from dunnage.platforms.fake import FakePlatform
from dunnage.runner.interrupt import ENDING, LEAVING, Stop
from dunnage.runner.rest import OF_A_LAB
from dunnage.runner.study import carry_out
from dunnage.store.read import open_result
from dunnage.store.whole import examine, foundation
from dunnage.store.write import ResultWriter
from dunnage.study.read import read_study

SMALL = """
dunnage: 1
name: small
testbed: {kind: fake, hosts: {db: 3, client: 1}}
database: {kind: fake, topology: single}
deployments:
  plain: {platform: fake, network: plain}
  late: {platform: fake, network: late}
workloads: [A, C]
records: 100
load: {threads: [4], warmup: 0s, duration: 2s}
blocks: 2
generator: fake
sampler: {kind: fake}
"""


class Silent:
    """A watcher that calls back when a run begins and otherwise says nothing."""

    def __init__(self, on_run: Callable[[], None] = lambda: None) -> None:
        self.on_run = on_run

    def stay(self, plan: StayPlan) -> None:
        pass

    def run(self, plan: RunPlan, upcoming: RunPlan | None) -> None:
        self.on_run()

    def finished(self, records: Sequence[Record]) -> None:
        pass

    def more(self, runs: int, why: str) -> None:
        pass

    def say(self, message: str) -> None:
        pass


class DyingWriter(ResultWriter):
    """Ends its process like a power cut after a number of journal lines."""

    lines_left = 0

    def journal(self, event: str, **details: Any) -> None:
        super().journal(event, **details)
        self.lines_left -= 1
        if self.lines_left == 0:
            os.kill(os.getpid(), signal.SIGKILL)


ONE_BLOCK = SMALL.replace("blocks: 2", "blocks: 1")
"""Two stays of two runs each: their journal has every kind of line."""
Small = tuple[Study, Plan, ResultWriter]


def begun(text: str, place: Path) -> Small:
    study = read_study(text, "small.yaml", catalog.OFFER)
    plan, _ = planned(study)
    return study, plan, ResultWriter.create(place, study.name, text, plan)


@pytest.fixture
def small(tmp_path: Path) -> Small:
    return begun(SMALL, tmp_path)


@pytest.fixture
def one_block(tmp_path: Path) -> Small:
    return begun(ONE_BLOCK, tmp_path)


def resume(study: Study, plan: Plan, root: Path) -> frozenset[str]:
    """Carry out what is missing and return what had been finished before."""
    before = open_result(root).finished()
    carry_out(study, plan, ResultWriter(root), before, Silent(), Stop())
    return before


def begun_runs(root: Path) -> list[str]:
    return [str(e["run"]) for e in open_result(root).events() if e["event"] == "run finished"]


def journal_length(one_block: Small, tmp_path: Path) -> int:
    study, plan, _ = one_block
    whole = ResultWriter.create(tmp_path, "whole", ONE_BLOCK, plan)
    before = len(list(open_result(whole.layout.root).events()))
    carry_out(study, plan, whole, frozenset(), Silent(), Stop())
    return len(list(open_result(whole.layout.root).events())) - before


def test_kill_9_at_every_point_of_the_journal_loses_and_repeats_nothing(
    one_block: Small, tmp_path: Path
) -> None:
    study, plan, _ = one_block
    length = journal_length(one_block, tmp_path)
    assert length > 2 * len(list(plan.runs()))
    for lines in range(1, length + 1):
        writer = DyingWriter.create(tmp_path, f"killed-{lines}", ONE_BLOCK, plan)
        root = writer.layout.root
        child = os.fork()
        if child == 0:
            dying = DyingWriter(root)
            dying.lines_left = lines
            carry_out(study, plan, dying, frozenset(), Silent(), Stop())
            os._exit(0)
        _, status = os.waitpid(child, 0)
        assert os.WIFSIGNALED(status) or lines == length
        at_crash = {path.name for path in (root / "runs").iterdir()}
        assert foundation(open_result(root)) == (), lines
        before = resume(study, plan, root)
        assert before <= at_crash
        finished = open_result(root).finished()
        assert finished == {run.id for run in plan.runs()}
        assert len(begun_runs(root)) == len(set(begun_runs(root)))
        assert examine(open_result(root), lambda *_: True).damages == (), lines


def test_ctrl_c_once_finishes_the_run_and_tears_down(
    small: Small,
) -> None:
    study, plan, writer = small
    with Stop() as stop:
        watcher = Silent(lambda: os.kill(os.getpid(), signal.SIGINT))
        with pytest.raises(InterruptedRunError):
            carry_out(study, plan, writer, frozenset(), watcher, stop)
    assert len(open_result(writer.layout.root).finished()) == 1
    resume(study, plan, writer.layout.root)
    assert len(open_result(writer.layout.root).finished()) == len(list(plan.runs()))


def test_ctrl_c_twice_ends_now_and_keeps_finished_runs(
    small: Small,
) -> None:
    study, plan, writer = small

    def twice() -> None:
        if open_result(writer.layout.root).finished():
            os.kill(os.getpid(), signal.SIGINT)
            os.kill(os.getpid(), signal.SIGINT)

    with Stop() as stop, pytest.raises(KeyboardInterrupt):
        carry_out(study, plan, writer, frozenset(), Silent(twice), stop)
    assert len(open_result(writer.layout.root).finished()) == 1
    resume(study, plan, writer.layout.root)
    assert len(open_result(writer.layout.root).finished()) == len(list(plan.runs()))


@pytest.mark.parametrize("asked_in", [1, 2], ids=["with runs left", "in its last run"])
def test_ctrl_c_never_disturbs_a_stay_that_is_taken_down(
    asked_in: int, small: Small, monkeypatch: pytest.MonkeyPatch
) -> None:
    study, plan, writer = small
    down = FakePlatform.down
    whole: list[FakePlatform] = []
    told: list[str] = []

    def asked() -> None:
        if len(open_result(writer.layout.root).finished()) == asked_in - 1:
            signal.raise_signal(signal.SIGINT)

    def struck(platform: FakePlatform) -> None:
        signal.raise_signal(signal.SIGINT)
        down(platform)
        whole.append(platform)

    monkeypatch.setattr(FakePlatform, "down", struck)
    with Stop(told.append) as stop, pytest.raises(InterruptedRunError):
        carry_out(study, plan, writer, frozenset(), Silent(asked), stop)
    assert len(whole) == 1
    assert told == [ENDING, LEAVING.format(OF_A_LAB)]


def test_the_rest_of_an_interrupted_stay_happens_in_a_new_stay_of_the_same_block(
    small: Small,
) -> None:
    study, plan, writer = small
    with Stop() as stop, pytest.raises(InterruptedRunError):
        watcher = Silent(lambda: os.kill(os.getpid(), signal.SIGINT))
        carry_out(study, plan, writer, frozenset(), watcher, stop)
    resume(study, plan, writer.layout.root)
    first = plan.blocks[0].stays[0]
    stays = [r.stay for r in open_result(writer.layout.root).records if r.run.startswith(first.id)]
    assert stays == [first.id, f"{first.id}.2"]


def full_disk(_: int) -> None:
    raise OSError(errno.ENOSPC, "No space left on device")


def test_a_full_disk_is_said_with_the_command_that_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    study, text = study_at(Path("studies/fake.yaml"))
    plan, _ = planned(study)
    writer = ResultWriter.create(tmp_path, study.name, text, plan)
    monkeypatch.setattr(os, "fsync", full_disk)
    with pytest.raises(ResultError, match="disk is full") as raised:
        carry_out(study, plan, writer, frozenset(), Silent(), Stop())
    assert raised.value.hint.endswith(f"dunnage run --resume {writer.layout.root}")


ENDING_PLACES = ("the wait", "the study", "the answer", "the last word", "Python")
WAITING = """
import atexit, select, sys
from contextlib import contextmanager
from dunnage import catalog
from dunnage.cli import command_line
from dunnage.cli.main import main
from dunnage.runner.interrupt import Stop

place = sys.argv.pop(1)

def held():
    # Not without end: a signal just before the system waits would not end that.
    while not select.select([0], [], [], 0.02)[0]:
        pass

def reached(name):
    if name == place:
        print(name, flush=True)
        held()

def before(name, then):
    def both(*words):
        reached(name)
        return then(*words)
    return both

@contextmanager
def measuring(*_):
    try:
        print("waiting", flush=True)
        held()
        yield
    finally:
        reached("the wait")

catalog.measuring = measuring
Stop.__exit__ = before("the study", Stop.__exit__)
command_line.show_error = before("the answer", command_line.show_error)
command_line.flush = before("the last word", command_line.flush)
atexit.register(reached, "Python")
main()
"""
"""The command, of which every study waits for another one. Where it ends one of the places above,
it says so and goes on when it is sent a line."""


@pytest.mark.parametrize("place", ["at once", *ENDING_PLACES])
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGQUIT])
def test_wherever_the_second_signal_comes_a_waiting_study_ends_with_its_code(
    number: signal.Signals, place: str, tmp_path: Path
) -> None:
    (tmp_path / "small.yaml").write_text(SMALL)
    with subprocess.Popen(
        [sys.executable, "-c", WAITING, place, "run", "small.yaml"],
        cwd=tmp_path,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "waiting\n"
        process.send_signal(number)
        if place in ENDING_PLACES:
            assert process.stdout.readline() == f"{place}\n"
        process.send_signal(number)
        _, told = process.communicate("\n", timeout=60)
        assert process.returncode == 130, told
        assert "Traceback" not in told
