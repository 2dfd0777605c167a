"""A platform that answers from a list, and a clock that only sleeping moves."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from dunnage.contracts.host import Completed, Host
from dunnage.contracts.platform import RunningMember
from dunnage.errors import StayError
from dunnage.model.layout import Layout, Reservation, Service
from dunnage.model.path import NetworkPath


class Hand:
    """A clock; it ticks when somebody sleeps."""

    def __init__(self) -> None:
        self.time = 1000.0

    def now(self) -> float:
        return self.time

    def sleep(self, seconds: float) -> None:
        self.time += seconds


class Prompter:
    """A platform: every command gets the next answer, and the last one for ever."""

    def __init__(self, answers: Iterable[tuple[int, str]] = ((0, ""),), dead: str = "") -> None:
        self.answers = list(answers)
        self.dead = dead
        self.asked: list[tuple[str, ...]] = []
        self.began: list[tuple[str, ...]] = []
        self.on_up: Callable[[], None] = lambda: None

    def run(self, member: str, argv: Sequence[str], *, stdin: str, timeout: float) -> Completed:
        self.asked.append((member, *argv))
        code, text = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        return Completed(code, text, "")

    def running(self) -> tuple[RunningMember, ...]:
        if self.dead:
            raise StayError("died; its last words: out of memory", where=self.dead)
        return ()

    def ended(self) -> dict[str, str]:
        return {self.dead: "out of memory"} if self.dead else {}

    def silent(self, seconds: float) -> dict[str, str]:
        return {}

    def up(self, services: Sequence[Service], deadline: float) -> None:
        self.began.append(tuple(service.member for service in services))
        self.on_up()

    def reserve(self, layout: Layout) -> Reservation:
        return Reservation(())

    def client(self, host: Host) -> Host:
        return host

    def network(self) -> dict[str, str]:
        return {}

    def late(self) -> dict[str, str]:
        return {}

    def paths(self, client: Host) -> tuple[NetworkPath, ...]:
        return ()

    def log(self, member: str, lines: int = 20) -> str:
        return ""

    def down(self) -> None:
        pass
