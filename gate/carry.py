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
from gate.processes import end_all, end_with_parent, hog, reap
from gate.stages import Kind, Stage
from gate.turn import turn
from gate.weight import weight

AGAIN_AT_MOST = 20
"""Failures of one stage that are tried once more, each by itself; more are no chance."""
ROUNDS = 3
"""Times that what a hung test kept from running is run at most."""
PATIENCE = 10.0
"""Seconds in which a stage whose time is over may still clean up."""
_LOOK = 0.05
"""Seconds between two looks at a process."""

_HUNG = "it hung, and was killed; where it hung is in the log"

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
    log = _log(stage, logs)
    for earlier in (log, log.with_suffix(".told")):
        earlier.unlink(missing_ok=True)
    carry = _CARRY[stage.kind]
    with turn(stage.machine), weight(stage.machine):
        started = time.monotonic()
        try:
            with hog() if stage.hogged else contextlib.nullcontext():
                outcomes = carry(stage, log, started + stage.minutes * 60, progress)
        finally:
            left = end_all()
    return Carried(stage, tuple(outcomes), time.monotonic() - started, log, tuple(left))


def interrupted(stage: Stage, logs: Path, told: Told) -> Carried:
    """A stage that was interrupted, as far as it had come."""
    ended = [*told.ended.values(), Outcome(stage.name, State.FAILED, why="it was interrupted")]
    return Carried(stage, tuple(ended), 0.0, _log(stage, logs), ())


def _log(stage: Stage, logs: Path) -> Path:
    return logs / f"{stage.name.replace(' ', '-')}.log"


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
    second = cargo(once_more.read_text(errors="replace"), code, stage.name)
    again = Outcome(stage.name, State.PASSED if code == 0 else State.FAILED)
    known = {each.test for each in first}
    new = [each for each in second if each.test not in known]
    return [*(told_apart(each, again) for each in first), *new]


def _pytest(stage: Stage, log: Path, deadline: float, progress: Progress) -> list[Outcome]:
    """All tests; what a process that ended left out; then what failed, each by itself."""
    told = Told()
    spread = ("--dist", "loadscope", "--no-loadscope-reorder") if stage.together else ()
    options = ("-n", str(stage.workers), *spread) if stage.workers > 1 else ()
    code = _tests((*stage.argv, *options, *stage.tests), log, deadline, told, progress)
    for _ in range(ROUNDS):
        if code is None or not (left := told.left_out(_HUNG)):
            break
        code = _tests((*stage.argv, *options, *left), log, deadline, told, progress)
    failed = [each for each in told.ended.values() if each.state is State.FAILED]
    outcomes = dict(told.ended)
    if stage.again and len(failed) <= AGAIN_AT_MOST:
        for each in failed:
            again = Told()
            ending = _tests((*stage.argv, each.test), log, deadline, again, progress)
            if ending == 0:
                outcomes[each.test] = told_apart(each, again.ended.get(each.test))
    for test in told.missing():
        why = _HUNG if test in told.started else f"it was not run: {_ending(code)}"
        outcomes[test] = Outcome(test, State.FAILED, why=why)
    if not outcomes or (code != 0 and not told.missing() and not (code == 1 and failed)):
        why = f"{_ending(code)}\n{_end(log)}"
        outcomes[stage.name] = Outcome(stage.name, State.FAILED, why=why)
    return list(outcomes.values())


def _collection(stage: Stage, log: Path, deadline: float, progress: Progress) -> list[Outcome]:
    """That tests were found, and every module that could not be loaded or is left out."""
    started = time.monotonic()
    told = Told()
    code = _tests(stage.argv, log, deadline, told, progress)
    modules = list(told.ended.values())
    seconds = time.monotonic() - started
    if code == 0 or (code == 1 and any(each.state is State.FAILED for each in modules)):
        return [Outcome(stage.name, State.PASSED, seconds), *modules]
    why = f"{_ending(code)}\n{_end(log)}"
    return [Outcome(stage.name, State.FAILED, seconds, why), *modules]


_CARRY = {
    Kind.COMMAND: _command,
    Kind.CARGO: _cargo,
    Kind.PYTEST: _pytest,
    Kind.COLLECTION: _collection,
}


def _tests(
    argv: Sequence[str], log: Path, deadline: float, told: Told, progress: Progress
) -> int | None:
    """Run tests, and take in what they tell while they run; returns the exit code as `_run`."""
    telling = log.with_suffix(".told")
    telling.touch()
    with telling.open("rb") as lines:
        taken = lines.seek(0, os.SEEK_END)  # what was told of earlier tries is kept

        def look() -> None:
            nonlocal taken
            lines.seek(taken)  # so that what an interruption kept from being taken in is read again
            whole, end, _ = lines.read().rpartition(b"\n")
            told.take(whole.decode().splitlines())
            taken += len(whole + end)
            progress(told)

        try:
            return _run((*argv, "--tell", str(telling)), log, deadline, look)
        finally:
            look()


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
                preexec_fn=end_with_parent,
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
