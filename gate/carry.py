"""Carries out one stage: never past its time, and each failure once more by itself."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from gate.outcome import Outcome, State, Told, cargo, told_apart
from gate.processes import end_all, hog, reap
from gate.stages import Kind, Stage

AGAIN_AT_MOST = 60
"""Failures of one stage that are tried once more, as many as share what a module makes for its
tests; more are no chance."""
PATIENCE = 10.0
"""Seconds in which a stage whose time is over may still clean up."""
_LOOK = 0.05
"""Seconds between two looks at a process."""

Progress = Callable[[Told], None]


@dataclass(frozen=True)
class Carried:
    """A stage that was carried out."""

    stage: Stage
    outcomes: tuple[Outcome, ...]
    seconds: float
    log: Path
    left: tuple[str, ...]
    """Command lines of processes that it left running, and that were killed."""


def carry_out(stage: Stage, logs: Path, progress: Progress) -> Carried:
    """Run a stage in the working directory; its log is `logs/<name>.log`."""
    log = logs / f"{stage.name.replace(' ', '-')}.log"
    log.unlink(missing_ok=True)
    started = time.monotonic()
    deadline = started + stage.minutes * 60
    carry = {Kind.COMMAND: _command, Kind.CARGO: _cargo, Kind.PYTEST: _pytest}[stage.kind]
    try:
        with hog() if stage.hogged else contextlib.nullcontext():
            outcomes = carry(stage, log, deadline, progress)
    finally:
        left = end_all()
    return Carried(stage, tuple(outcomes), time.monotonic() - started, log, tuple(left))


def _command(stage: Stage, log: Path, deadline: float, progress: Progress) -> list[Outcome]:
    started = time.monotonic()
    code = _run(stage.argv, log, deadline, lambda: progress(Told()))
    seconds = time.monotonic() - started
    if code == 0:
        return [Outcome(stage.name, State.PASSED, seconds)]
    return [Outcome(stage.name, State.FAILED, seconds, f"{_ending(code)}\n{_end(log)}")]


def _cargo(stage: Stage, log: Path, deadline: float, progress: Progress) -> list[Outcome]:
    """All tests; where one failed, all once more: a build or a crash has no test to run again."""
    code = _run(stage.argv, log, deadline, lambda: progress(Told()))
    first = cargo(log.read_text(errors="replace"), code, stage.name)
    if code == 0:
        return first
    once_more = log.with_suffix(".again.log")
    once_more.unlink(missing_ok=True)
    code = _run(stage.argv, once_more, deadline, lambda: progress(Told()))
    again = Outcome(stage.name, State.PASSED if code == 0 else State.FAILED)
    return [told_apart(each, again) for each in first]


def _pytest(stage: Stage, log: Path, deadline: float, progress: Progress) -> list[Outcome]:
    """All tests; what a killed process left out; then what failed, one by one, by itself."""
    told = Told()
    spread = ("--dist", "loadscope", "--no-loadscope-reorder") if stage.together else ()
    argv = (*stage.argv, *(("-n", str(stage.workers), *spread) if stage.workers > 1 else ()))
    code = _tests(argv, log, deadline, told, progress)
    failed = [each for each in told.ended.values() if each.state is State.FAILED]
    again = Told()
    if stage.again and 0 < len(failed) <= AGAIN_AT_MOST:
        _tests((*stage.argv, *(each.test for each in failed)), log, deadline, again, progress)
    outcomes = [told_apart(each, again.ended.get(each.test)) for each in told.ended.values()]
    for test in told.missing():
        why = "it hung, and was killed with the stage" if test in told.started else "it was not run"
        outcomes.append(Outcome(test, State.FAILED, why=f"{why}: {_ending(code)}"))
    if not outcomes or (code != 0 and not told.missing() and not (code == 1 and failed)):
        outcomes.append(Outcome(stage.name, State.FAILED, why=_ending(code) + "\n" + _end(log)))
    return outcomes


def _tests(
    argv: Sequence[str], log: Path, deadline: float, told: Told, progress: Progress
) -> int | None:
    """Run tests, and take in what they tell while they run; returns the exit code as `_run`."""
    telling = log.with_suffix(".told")
    telling.unlink(missing_ok=True)
    telling.touch()
    with telling.open(encoding="utf-8") as lines:
        rest = ""

        def look() -> None:
            nonlocal rest
            *whole, rest = (rest + lines.read()).split("\n")
            told.take(whole)
            progress(told)

        code = _run((*argv, "--tell", str(telling)), log, deadline, look)
        look()
    return code


def _run(argv: Sequence[str], log: Path, deadline: float, look: Callable[[], None]) -> int | None:
    """Run a command until its end or a deadline; returns its exit code, None when it was killed."""
    with log.open("ab") as output:
        try:
            process = subprocess.Popen(
                argv,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        except OSError as error:
            output.write(f"{argv[0]}: {error.strerror}\n".encode())
            return 127
    try:
        while process.poll() is None:
            if time.monotonic() > deadline:
                _end_now(process)
                return None
            reap(but=process.pid)
            look()
            time.sleep(_LOOK)
    except BaseException:
        _end_now(process)
        raise
    return process.returncode


def _end_now(process: subprocess.Popen[bytes]) -> None:
    """Let it clean up for a moment, then kill it."""
    process.send_signal(signal.SIGINT)
    try:
        process.wait(PATIENCE)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def _ending(code: int | None) -> str:
    return "killed: it took longer than it may" if code is None else f"exit code {code}"


def _end(log: Path) -> str:
    return "\n".join(log.read_text(errors="replace").splitlines()[-40:])
