"""Waiting by a clock of one's own until nothing is late."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from dunnage.substrates.late import still_late


@dataclass
class Steps:
    """A clock that moves when somebody sleeps."""

    time: float = 0.0

    def now(self) -> float:
        return self.time

    def sleep(self, seconds: float) -> None:
        self.time += seconds


def told(*answers: str) -> Callable[[], str]:
    """These, and then the last for ever."""
    left = [*answers]
    return lambda: left.pop(0) if len(left) > 1 else left[0]


def test_it_ends_with_the_first_answer_that_nothing_is_late() -> None:
    clock = Steps()
    assert still_late(told("a", "b", ""), clock, seconds=60.0, interval=1.0) is None
    assert clock.time == 2.0


def test_what_is_late_to_the_end_is_what_it_was_at_last() -> None:
    clock = Steps()
    assert still_late(told("a", "b"), clock, seconds=3.0, interval=1.0) == "b"
    assert clock.time == 3.0


def test_after_a_break_it_must_be_steady_anew() -> None:
    clock = Steps()
    late = told("", "", "a break", "")
    assert still_late(late, clock, seconds=60.0, interval=1.0, steady=2.0) is None
    assert clock.time == 5.0
