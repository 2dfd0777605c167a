"""Stages are walked in order, and a step is tried until it is done."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from stage import Hand, Prompter

from dunnage.contracts.host import Completed
from dunnage.errors import RunError, StayError
from dunnage.model.layout import Probe, Reservation, Service, Software, Stage, Step
from dunnage.runner.formation import form, take


def step(name: str, deadline: float = 1.0) -> Step:
    return Step(
        name,
        "m-1",
        (name,),
        deadline=deadline,
        done=lambda output: output == "done",
        parse=lambda output: {name: output},
    )


def test_a_step_is_tried_again_until_it_is_done_and_gives_its_facts() -> None:
    platform = Prompter([(1, "done"), (0, "not yet"), (0, "done"), (0, "done")])
    assert take(platform, [step("join"), step("count")], Hand()) == {
        "join": "done",
        "count": "done",
    }
    assert platform.asked == [("m-1", "join")] * 3 + [("m-1", "count")]


def test_a_step_that_is_never_done_is_named_with_its_last_output() -> None:
    platform, clock = Prompter([(0, "first"), (3, "waiting for quorum")]), Hand()
    with pytest.raises(StayError) as raised:
        take(platform, [step("join", deadline=2.0), step("after")], clock)
    told = str(raised.value)
    assert told.startswith("m-1: step `join` was not finished within 2 s")
    assert "exit code 3, last output: waiting for quorum" in told
    assert clock.now() >= 1002.0
    assert ("m-1", "after") not in platform.asked


def test_a_step_without_output_says_so_and_is_tried_once_at_least() -> None:
    platform = Prompter([(1, "")])
    with pytest.raises(StayError, match="last output: none"):
        take(platform, [step("join", deadline=0.0)], Hand())
    assert len(platform.asked) == 1


def test_a_dead_member_explains_a_step_better_than_its_output() -> None:
    with pytest.raises(StayError, match=r"m-2: died.*out of memory"):
        take(Prompter([(1, "connection refused")], dead="m-2"), [step("join")], Hand())


class Hanging(Prompter):
    """Nothing that it runs ends."""

    def run(self, member: str, argv: Sequence[str], *, stdin: str, timeout: float) -> Completed:
        raise RunError(f"`{argv[0]}` did not end within {timeout:g} s", where="db-1")


def test_a_step_that_hangs_is_named_unless_its_member_is_dead() -> None:
    with pytest.raises(StayError) as raised:
        take(Hanging(), [step("join", deadline=2.0)], Hand())
    assert str(raised.value) == "m-1: step `join` failed: `join` did not end within 2 s"
    with pytest.raises(StayError, match="m-2: died"):
        take(Hanging(dead="m-2"), [step("join")], Hand())


def test_a_long_output_is_told_by_its_end() -> None:
    with pytest.raises(StayError) as raised:
        take(Prompter([(1, "x" * 10_000 + "the end")]), [step("join")], Hand())
    assert raised.value.what.endswith("the end")
    assert len(raised.value.what) < 600


def test_stages_are_taken_in_order_and_timed() -> None:
    platform, clock = Prompter([(0, "done")]), Hand()
    platform.on_up = lambda: clock.sleep(3.0)

    def service(member: str) -> Service:
        return Service(member, (), Probe(()), Software("fake", "1.0"))

    stages = [
        Stage("servers", (service("a"), service("b")), (step("join"),)),
        Stage("only steps", (), (step("elect"),)),
        Stage("router", (service("c"),)),
    ]
    formed = form(platform, lambda _: stages, Reservation(()), clock, 10.0)
    assert sorted(formed.services) == ["a", "b", "c"]
    assert formed.took == {"servers": 3.0, "only steps": 0.0, "router": 3.0}
    assert platform.began == [("a", "b"), ("c",)]
    assert [words[1] for words in platform.asked] == ["join", "elect"]
