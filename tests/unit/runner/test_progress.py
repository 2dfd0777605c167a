"""What is foretold and shown while a study runs."""

from __future__ import annotations

import io
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from dunnage.analysis.checks.finding import count, share
from dunnage.model.check import CheckResult, Status
from dunnage.model.plan import StayPlan
from dunnage.runner.progress import Display, TimeLeft
from report_gates import spoilt_by, unseen_by

seconds = st.floats(0.0, 1e6)


@given(seconds, st.integers(1, 10_000), seconds, st.data())
def test_the_time_left_is_never_negative(
    planned: float, runs: int, elapsed: float, data: st.DataObject
) -> None:
    finished = data.draw(st.integers(0, runs))
    assert TimeLeft(planned, runs).seconds(elapsed, finished) >= 0.0


@given(seconds, st.integers(1, 10_000), seconds)
def test_nothing_is_left_at_the_end(planned: float, runs: int, elapsed: float) -> None:
    assert TimeLeft(planned, runs).seconds(elapsed, runs) == 0.0


@given(seconds, st.integers(1, 10_000))
def test_the_plan_is_believed_at_the_start(planned: float, runs: int) -> None:
    assert TimeLeft(planned, runs).seconds(0.0, 0) == pytest.approx(planned)


@given(st.floats(1.0, 1e6), st.integers(2, 1000), st.data())
def test_a_study_that_keeps_to_its_plan_is_foretold_exactly(
    planned: float, runs: int, data: st.DataObject
) -> None:
    finished = data.draw(st.integers(0, runs))
    left = TimeLeft(planned, runs).seconds(planned * finished / runs, finished)
    assert left == pytest.approx(planned * (runs - finished) / runs)


@given(st.floats(1.1, 10.0), st.integers(3, 1000))
def test_slow_runs_are_believed_more_with_every_run(factor: float, runs: int) -> None:
    left = TimeLeft(float(runs), runs)
    errors = [
        abs(left.seconds(done * factor, done) / (runs - done) - factor) for done in range(runs)
    ]
    assert errors == sorted(errors, reverse=True)


def test_a_result_without_any_run_left_takes_no_time() -> None:
    assert TimeLeft(0.0, 0).seconds(5.0, 0) == 0.0


def test_hostile_text_is_shown_as_it_is_and_steers_nothing() -> None:
    file = io.StringIO()
    console = Console(file=file, force_terminal=True, width=40, color_system=None)
    with Display(console, runs=2, done=0, seconds=10.0) as display:
        display.say("log: [/] [bold]x[/bold] \x1b[2J\x07 " + "word " * 20)
    shown = file.getvalue()
    assert "log: [/] [bold]x[/bold] \ufffd[2J" in shown
    assert "\x1b[2J" not in shown
    assert "word " * 19 + "word" in shown


def test_a_terminal_that_shows_no_bar_gets_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "dumb")
    file = io.StringIO()
    with Display(Console(file=file, force_terminal=True), 8, 2, 60.0) as display:
        display.stay(StayPlan(id="b01-plain", block=1, deployment="plain", runs=()))
    assert "2/8 runs, 1 min 00 s left: block 1 · plain" in file.getvalue()


@pytest.mark.parametrize("width", [30, 40, 60, 80, 100, 200])
def test_what_is_counted_is_whole_at_any_width(width: int) -> None:
    file = io.StringIO()
    console = Console(
        file=file, force_terminal=True, width=width, color_system=None, legacy_windows=False
    )
    with Display(console, runs=320, done=112, seconds=3600.0) as display:
        display.stay(StayPlan(id="b01-x", block=1, deployment="docker-overlay-vip", runs=()))
    assert "112/320" in file.getvalue()
    assert "1 h 00 min left" in file.getvalue()


def test_further_runs_are_foretold_to_be_as_long_as_the_others() -> None:
    left = TimeLeft(100.0, 10)
    left.more(5)
    assert left.seconds(0.0, 0) == pytest.approx(150.0)


def test_what_spoilt_runs_that_were_measured_together_is_said_once() -> None:
    def record(run: str, *checks: CheckResult) -> Any:
        status = Status.INVALID if checks else Status.VALID
        return SimpleNamespace(run=run, status=status, checks=checks)

    stolen = spoilt_by("steal", (share("steal", 0.2, "db-1"),), (share("steal", 0.05),))
    failed = spoilt_by("parts", (count("engines", 1),), (count("engines", 2),))
    hidden = unseen_by("swap")  # which stands against no run
    file = io.StringIO()
    with Display(Console(file=file, width=200), runs=4, done=0, seconds=10.0) as display:
        display.finished(
            [record("a", stolen), record("b", stolen), record("c"), record("d", hidden, failed)]
        )
    assert file.getvalue().splitlines() == [
        "runs `a`, `b` are invalid: steal: 20.0 % seen by db-1, should be below 5.0 % of CPU time",
        "run `d` is invalid: parts: 1 engines, should be 2 engines",
    ]
