"""Members that are waited for, and commands in containers that end meanwhile."""

from __future__ import annotations

import socket
from dataclasses import dataclass, field
from threading import Event
from typing import cast

import pytest
from docker import APIClient
from docker.errors import NotFound
from platform_cases import service

from dunnage.contracts.host import Completed
from dunnage.contracts.platform import RunningMember
from dunnage.deadline import Deadline
from dunnage.errors import RunError, StayError
from dunnage.model.layout import (
    Service,
)
from dunnage.platforms.execute import NOT_RUN, execute
from dunnage.platforms.readiness import await_ready, side_by_side


@dataclass
class Scripted:
    """A member that answers its probe as a test says."""

    answers: list[Completed | RunError]
    end: str | None = None
    service: Service = field(default_factory=service)

    def identified(self) -> RunningMember:
        raise AssertionError("nobody asks for the process of a member that is waited for")

    def ended(self) -> str | None:
        return self.end

    def run(self, argv: tuple[str, ...], *, stdin: str, timeout: float) -> Completed:
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(answer, RunError):
            raise answer
        return answer

    @property
    def hint(self) -> str:
        return "look"

    def log(self, lines: int) -> str:
        return "\n".join(f"line {n}" for n in range(100, 100 + lines))


PONG = Completed(0, "PONG\n", "")

LOADING = Completed(0, "LOADING\n", "")


def test_a_member_is_ready_when_its_probe_says_what_is_expected() -> None:
    member = Scripted([Completed(1, "", "refused"), RunError("timed out"), LOADING, PONG])
    await_ready(member, Deadline.after(10.0))
    assert member.answers == [PONG]


def test_a_deadline_that_is_over_shows_the_last_answer_and_twenty_lines() -> None:
    with pytest.raises(StayError) as failed:
        await_ready(Scripted([LOADING]), Deadline.after(0.01))
    assert failed.value.where == "redis-1"
    assert "not ready within 0.01 s; its probe last answered: LOADING" in failed.value.what
    assert failed.value.what.count("\nline ") == 20
    assert failed.value.hint


def test_a_member_that_ended_is_not_waited_for() -> None:
    with pytest.raises(StayError, match="ended before it was ready: exit code 3"):
        await_ready(Scripted([LOADING], end="exit code 3"), Deadline.after(60.0))


def test_members_are_given_up_when_another_one_has_failed() -> None:
    given_up = Event()

    def fail() -> None:
        raise StayError("no", where="redis-1")

    waiting = Scripted([LOADING])
    deadline = Deadline.after(60.0, given_up)
    with pytest.raises(StayError, match=r"^redis-1: no$"):
        side_by_side([lambda: await_ready(waiting, deadline), fail], given_up)
    assert given_up.is_set()
    assert not deadline.passed
    with pytest.raises(StayError, match="given up"):
        await_ready(waiting, deadline)


class EndedContainer:
    """Docker's API where a container, and every command in it, ends while the command answers."""

    def __init__(self) -> None:
        self.near, self.far = socket.socketpair()

    def exec_create(self, *_: object, **__: object) -> dict[str, str]:
        return {"Id": "e4"}

    def exec_start(self, *_: object, **__: object) -> socket.socket:
        self.far.close()
        return self.near

    def exec_inspect(self, command: str) -> dict[str, int]:
        raise NotFound(f"No such exec instance: {command}")


def test_a_command_whose_container_ends_meanwhile_was_not_run_and_is_no_error_of_its_own() -> None:
    api = cast("APIClient", EndedContainer())
    done = execute(api, "c1", ["true"], stdin="", timeout=5.0, where="redis-1")
    assert (done.code, done.stderr) == (NOT_RUN, "No such exec instance: e4")
