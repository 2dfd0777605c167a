"""Starting members side by side and waiting until each is ready, the same on every platform."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from threading import Event
from typing import Protocol

from dunnage.contracts.host import Completed
from dunnage.contracts.platform import RunningMember
from dunnage.deadline import Deadline
from dunnage.errors import DunnageError, RunError, StayError
from dunnage.model.layout import Probe, Service

LAST_LINES = 20
_PROBE_TIMEOUT = 10.0
"""Seconds after which one try of a probe counts as failed."""


class Starting(Protocol):
    """A member that was started and is not known to be ready."""

    @property
    def service(self) -> Service:
        """What it was started from."""

    def identified(self) -> RunningMember:
        """With its process, as its host sees it. One that has just ended is not seen."""

    def ended(self) -> str | None:
        """How its process ended, such as `exit code 1`, or None while it lives."""

    def run(self, argv: tuple[str, ...], *, stdin: str, timeout: float) -> Completed:
        """Run a command beside it; raises RunError when `timeout` seconds are over."""

    def log(self, lines: int) -> str:
        """The last lines that it wrote."""

    @property
    def hint(self) -> str:
        """What to type to look at where it was, once the stay is over."""


def await_ready(member: Starting, deadline: Deadline) -> None:
    """Probe until `member` is ready.

    Raises StayError with the last lines of its log when the member ends or is not ready in time,
    and when all are given up.
    """
    probe = member.service.ready
    while True:
        if (how := member.ended()) is not None:
            raise death(member, f"ended before it was ready: {how}")
        answer = unready(member.run, probe, min(_PROBE_TIMEOUT, max(deadline.seconds, 1.0)))
        if answer is None:
            return
        if deadline.passed:
            what = f"was not ready within {deadline.seconds:g} s; its probe last answered: {answer}"
            raise death(member, what)
        deadline.pause(probe.interval)


def unready(run: Callable[..., Completed], probe: Probe, seconds: float) -> str | None:
    """What a member's probe answers within so many seconds; None where it says that it is ready.

    `run` runs a command beside the member, as `Starting.run` does.
    """
    try:
        tried = run(probe.argv, stdin="", timeout=seconds)
    except RunError as error:
        return error.what
    if tried.code == 0 and probe.expect in tried.stdout:
        return None
    return (tried.stdout + tried.stderr).strip()[-200:] or f"exit code {tried.code}"


def death(member: Starting, how: str) -> StayError:
    """The error for a member that failed, with the last lines of its log; where they cannot be
    read, that does not hide how it failed."""
    try:
        lines = member.log(LAST_LINES).strip()
        ending = f"its log ends:\n{lines}" if lines else "it wrote no log"
    except DunnageError as error:
        ending = f"its last lines are not known: {error.what}"
    return StayError(f"{how}; {ending}", where=member.service.member, hint=member.hint)


def side_by_side(actions: Iterable[Callable[[], object]], given_up: Event | None = None) -> None:
    """Carry out all actions at once; raise the error that came first, when all have ended.

    `given_up` is set at the first error, so that the others can end early.
    """
    given_up = given_up or Event()
    failures: list[BaseException] = []

    def carry_out(action: Callable[[], object]) -> None:
        try:
            action()
        except BaseException as error:
            failures.append(error)
            given_up.set()
            raise

    waiting = list(actions)
    with ThreadPoolExecutor(max_workers=max(len(waiting), 1)) as pool:
        try:
            wait([pool.submit(carry_out, each) for each in waiting], return_when=FIRST_EXCEPTION)
        except BaseException:
            given_up.set()
            raise
    if failures:
        raise failures[0]
